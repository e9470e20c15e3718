import Joi from 'joi';
import {domainNotFound, required, validationFailed} from '../../platform/errors.ts';
import {sizeFirst} from '../../platform/http/size-first.ts';
import type {BodyContext} from '../../platform/http/validate.ts';
import {safeHttpUrl} from '../../platform/safe-http-url.ts';
import type {Services} from '../../services.ts';
import {httpUrl, refusedByPolicy, requireNoLoop} from '../http-url.ts';
import type {ConfiguredDomain, DomainSettings} from './domain.ts';
import {type DomainJson, type DomainTarget, withDomains} from './domain-operations.ts';
import {isVerifiedHostname} from './domain-store.ts';
import {servedOnEveryHost} from './locate.ts';
import {CODE, unknownCodesHost} from './unknown-code.ts';

/** Prefixes of a domain (contract/hosts 8). */
const MAX_PREFIXES = 20;
const MAX_PREFIX = 255;

const PREFIX = /^[A-Za-z0-9_~-][A-Za-z0-9._~-]*(?:\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$/;

const pathPrefix = sizeFirst
	.string()
	.max(MAX_PREFIX)
	.meta({
		schema: {
			description: `Segments before a code, such as promos or links/share. The first is not ${[...servedOnEveryHost].join(', ')}.`,
			pattern: PREFIX.source,
			not: {pattern: '^(?:health|internal|metrics)(?:/|$)'},
		},
	})
	.custom((value: string, helpers) => {
		const prefix = value.replace(/^\/|\/$/g, '');
		const [first = ''] = prefix.split('/', 1);
		if (!PREFIX.test(prefix)) {
			return helpers.message({custom: '{{#label}} must be segments of a path, such as promos or links/share'});
		}

		return servedOnEveryHost.has(first)
			? helpers.message({custom: `{{#label}} must not begin with ${first}, which every host serves itself`})
			: prefix;
	});

/** A placeholder that the URL parser does not change. */
const STAND_IN = 'oplinkcode7f3a';

/** A URL with `{code}` behind the host, or without. The code is inserted percent-encoded (`unknownCodeTarget`). */
const codeUrl = sizeFirst
	.string()
	.max(2048)
	.meta({
		schema: {
			format: 'uri-template',
			description: `An http or https URL of a public host, except the link hosts of this server; ${CODE} stands for the code.`,
		},
	})
	.custom((value: string, helpers) => {
		const withCode = value.replaceAll(CODE, STAND_IN);
		if (/[{}]/.test(withCode)) {
			return helpers.message({custom: '{{#label}} must have no brace except in {{#code}}'}, {code: CODE});
		}

		const url = safeHttpUrl(withCode, {linkHosts: []});
		return url === null || new URL(url).hostname.includes(STAND_IN)
			? helpers.message(
					// Passed as a value: braces in the text are placeholders.
					{custom: '{{#label}} must be an http or https URL of a public host, with {{#code}} behind the host'},
					{code: CODE},
				)
			: (refusedByPolicy((helpers.prefs.context as BodyContext).linkPolicy, url, helpers) ??
					url.replaceAll(STAND_IN, CODE));
	});

type DomainChanges = {
	pathPrefixes?: string[] | null;
	rootUrl?: string | null;
	unknownCodes?: {url: string} | null;
};

/** Absent fields stay; null clears one. */
export const domainChanges = Joi.object<DomainChanges>({
	pathPrefixes: sizeFirst
		.array()
		.items(pathPrefix)
		.max(MAX_PREFIXES)
		.unique()
		.messages({'array.unique': '{{#label}} repeats a prefix'})
		.allow(null),
	rootUrl: httpUrl().allow(null),
	unknownCodes: Joi.object<{url: string}>({url: codeUrl.required()}).allow(null),
});

/** @throws 400 for a host of this service, which would be a redirect loop. */
const requireForeignHost = async (
	{db, hostRoles}: Pick<Services, 'db' | 'hostRoles'>,
	url: string,
	{hostname}: ConfiguredDomain,
): Promise<void> => {
	const host = unknownCodesHost(url);
	if (host === hostname || hostRoles.roleOf(host) !== 'other' || (await isVerifiedHostname(db, host))) {
		const field = 'unknownCodes.url';
		throw validationFailed([{field, message: `${field} must not be on a link domain of this service`}]);
	}
};

/**
 * Changes the settings of an organization's own domain; `changes` may be empty.
 * @throws 404; 400 if the target of `/` or of unknown codes is on a link domain.
 */
export const configureDomain = (
	services: Pick<Services, 'addresses' | 'clock' | 'db' | 'hostRoles'>,
	{changes: {unknownCodes, ...changes}, ...target}: DomainTarget & {changes: DomainChanges},
): Promise<DomainJson> =>
	withDomains(services, target, async ({trx, now, store, record, json}) => {
		const domain = required(await store.lock(target.id), domainNotFound);
		if (changes.rootUrl != null) {
			requireNoLoop(domain.hostname ?? '', {rootUrl: changes.rootUrl});
		}

		if (unknownCodes != null) {
			await requireForeignHost({...services, db: trx}, unknownCodes.url, domain);
		}

		const settings: Partial<DomainSettings> = {
			...(changes.pathPrefixes === undefined ? {} : {pathPrefixes: changes.pathPrefixes ?? []}),
			...(changes.rootUrl === undefined ? {} : {rootUrl: changes.rootUrl}),
			...(unknownCodes === undefined ? {} : {unknownCodesUrl: unknownCodes?.url ?? null}),
		};
		const fields = Object.keys(settings) as Array<keyof DomainSettings>;
		if (fields.length === 0) {
			return json(domain);
		}

		const changed = await store.configure(domain.id, settings, now);
		await record('UPDATE', changed, {
			changes: Object.fromEntries(fields.map((field) => [field, {from: domain[field], to: changed[field]}])),
		});
		return json(changed);
	});
