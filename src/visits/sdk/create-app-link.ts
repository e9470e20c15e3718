import {createHash} from 'node:crypto';
import type {Caller} from '../../accounts/audit/audit-log.ts';
import type {Organization} from '../../accounts/organizations/organization-store.ts';
import {type PlanDeps, planOf} from '../../accounts/plans/entitlements.ts';
import {insertLink} from '../../links/links/create-link.ts';
import {canonicalJson} from '../../links/links/import/canonical-json.ts';
import {readCreator, requireCreationTerms, requireQuotas} from '../../links/links/link-terms.ts';
import {getLink} from '../../links/links/read-links.ts';
import {type ClientCreate, type ClientFields, closedFields} from '../../links/templates/client-create.ts';
import {bodyLimits} from '../../platform/config/limits.ts';
import {type Db, inTransaction} from '../../platform/db/db.ts';
import {run, sql} from '../../platform/db/sql.ts';
import {templateNotOpen, validationFailed} from '../../platform/errors.ts';
import {enforceLimit, type LimitDeps} from '../../platform/limits/enforce-limit.ts';
import type {Services} from '../../services.ts';
import type {AppLinkFields} from './sdk-fields.ts';

type Template = {id: string; clientCreate: ClientCreate | null};

/** A template by its name or its id; a name wins. */
const findTemplate = async (db: Db, organizationId: string, reference: string): Promise<Template | null> => {
	const [template] = await run<Template>(
		db,
		sql`SELECT id, client_create AS "clientCreate" FROM templates
		WHERE organization_id = ${organizationId} AND (name = ${reference} OR id::text = lower(${reference}))
		ORDER BY name = ${reference} DESC LIMIT 1`,
	);
	return template ?? null;
};

type Content = {organization_id: string; device_id: string; content: Buffer};

const contentOf = ({id}: Template, {params, title, path}: ClientFields): Buffer =>
	createHash('sha256')
		.update(canonicalJson({template: id, params, title, path}))
		.digest();

type AppLink = {isNew: boolean; link: {id: string; shortCode: string; url: string}};

/**
 * Creates a link of a template that is open to apps (contract/sdk 4), or finds the one that the device has for the same
 * content, before any check of plan and quota. The checks are those of `createLink`, in its order.
 * @throws 429 for too many links of the device; 402, 428 and 402 as `createLink`; 404 for a template that is not open, 400
 * for a field that is not.
 */
export const createAppLink = async (
	services: PlanDeps & LimitDeps & Pick<Services, 'addresses' | 'changes' | 'clickJournal' | 'db' | 'linkPolicy'>,
	{organization, by, body}: {organization: Organization; by: Caller; body: AppLinkFields},
): Promise<AppLink> => {
	const {deviceId, template: reference, ...fields} = body;
	const organizationId = organization.id;
	const owned = {organizationId, plan: planOf(services, organization)};
	await enforceLimit(services, bodyLimits.sdkDeviceLinks, {subject: `${organizationId} ${deviceId}`, owner: owned});
	await services.clickJournal.flushed({containing: [organizationId]});
	const made = await inTransaction(services.db, async (trx) => {
		// The count of links stays locked: of parallel creates of one content, one makes the link.
		const creator = await readCreator(trx, {organizationId, now: services.clock.now()}, 'lock');
		const template = await findTemplate(trx, organizationId, reference);
		const content: Content | null = template && {
			organization_id: organizationId,
			device_id: deviceId,
			content: contentOf(template, fields),
		};
		const known = content && (await trx('app_links').where(content).first('link_id'));
		if (known) {
			return {knownId: known.link_id as string};
		}

		requireQuotas(services, requireCreationTerms(services, creator), creator, {isByApp: true});
		if (content === null || template === null || template.clientCreate === null) {
			throw templateNotOpen();
		}

		const faults = closedFields(template.clientCreate, fields);
		if (faults.length > 0) {
			throw validationFailed(faults);
		}

		const {path, ...others} = fields;
		const input = {...others, ...(path == null ? {} : {path}), templateId: template.id};
		const link = await insertLink(services, trx, {creator, by, fields: input, isByApp: true});
		await trx('app_links').insert({...content, link_id: link.id});
		return {link};
	});
	if ('knownId' in made) {
		return {isNew: false, link: await getLink(services, {organization, id: made.knownId})};
	}

	await services.changes.settled();
	return {isNew: true, link: made.link};
};
