import Joi from 'joi';
import {organizationChanges, planField} from '../../accounts/organizations/organization-schemas.ts';
import {appConfigBody} from '../../links/app-config/app-config.ts';
import {newChannel} from '../../links/channels/channel.ts';
import {domainChanges} from '../../links/domains/configure-domain.ts';
import {newDomain, normalHostname} from '../../links/domains/domain.ts';
import {allLinkFields} from '../../links/links/link-fields.ts';
import {linkFieldSchemas} from '../../links/links/link-schemas.ts';
import {newTemplate} from '../../links/templates/template.ts';
import {newEndpoint} from '../../visits/webhooks/endpoint.ts';

/** A row of the API, or the `spec` of a document. */
export type Row = Record<string, unknown>;

type Kind = {
	/** A create's body with the field of the identity; a link names its template and its domain. */
	schema: Joi.ObjectSchema;
	/** The field of a row whose value is the name of its document. */
	identity: string;
	/** The path of its rows behind that of the organization. */
	path: string;
	/** Values in force if none is stored. */
	defaults: Row;
};

const {path, domainId: _, templateId: __, ...linkFields} = linkFieldSchemas;
const reference = Joi.string().max(255).allow(null);
/** Defaults of the fields that answers show with their inherited values. */
export const inheritedDefaults: Row = Object.fromEntries(
	allLinkFields.flatMap((field) => (field.default === undefined ? [] : [[field.name, field.default]])),
);

/** The kinds of documents, in the order in which they are applied (contract/operations 20). */
export const kinds = {
	Organization: {
		schema: organizationChanges.append<Row>({plan: planField.allow(null).custom((plan: string) => plan.toUpperCase())}),
		identity: 'name',
		path: '',
		defaults: {},
	},
	AppConfig: {
		schema: appConfigBody,
		identity: '',
		path: '/app-config',
		defaults: {clipboardFormat: 'token', probabilisticMatching: true, minimumConfidence: 'low', android: []},
	},
	Channel: {schema: newChannel, identity: 'name', path: '/channels', defaults: {}},
	Domain: {
		schema: newDomain.concat(domainChanges as Joi.ObjectSchema).append<Row>({default: Joi.valid(true)}),
		identity: 'hostname',
		path: '/domains',
		defaults: {pathPrefixes: []},
	},
	Template: {schema: newTemplate, identity: 'name', path: '/templates', defaults: inheritedDefaults},
	Link: {
		schema: Joi.object({
			template: reference,
			path: path.when('template', {is: Joi.string().required(), otherwise: Joi.required()}),
			...linkFields,
			externalId: Joi.string().max(255).required(),
			domain: reference.custom((host: string) => normalHostname(host) ?? host.toLowerCase()),
		}),
		identity: 'externalId',
		path: '/links',
		defaults: {...inheritedDefaults, isActive: true},
	},
	Endpoint: {
		schema: newEndpoint.append<Row>({
			url: newEndpoint
				.extract('url')
				.custom((url: string, helpers) =>
					URL.canParse(url) ? url : helpers.message({custom: '{{#label}} must be a URL'}),
				),
		}),
		identity: 'url',
		path: '/webhook-endpoints',
		defaults: {enabled: true},
	},
} satisfies Record<string, Kind>;

export type KindName = keyof typeof kinds;
export const kindNames = Object.keys(kinds) as KindName[];

/** The fields of `spec`, without that of the identity. */
export const fieldsOf = (kind: KindName): string[] =>
	Object.keys((kinds[kind].schema.describe() as {keys: object}).keys).filter((field) => field !== kinds[kind].identity);

/** The identity of a row among those of its kind; a kind with one row per organization needs none. */
export const identityOf = (kind: KindName, name: unknown): string => {
	if (kind === 'Organization' || kind === 'AppConfig') {
		return '';
	}

	return kind === 'Endpoint' && URL.canParse(String(name)) ? new URL(String(name)).href : String(name);
};
