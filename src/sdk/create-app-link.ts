import {createHash, randomUUID} from 'node:crypto';
import type {Caller} from '../audit/audit-log.ts';
import {type Db, inTransaction} from '../db/db.ts';
import {templateNotOpen, validationFailed} from '../errors.ts';
import {enforceLimit, type LimitDeps} from '../limits/enforce-limit.ts';
import {bodyLimits} from '../limits/limits.ts';
import {countNewLink, insertLink} from '../links/create-link.ts';
import {canonicalJson} from '../links/import/canonical-json.ts';
import {lockOwner} from '../links/link-terms.ts';
import {getLink} from '../links/read-links.ts';
import type {Organization} from '../organizations/organization-store.ts';
import {type PlanDeps, planOf} from '../plans/entitlements.ts';
import type {Services} from '../services.ts';
import {type ClientCreate, type ClientFields, closedFields} from '../templates/client-create.ts';
import type {AppLinkFields} from './sdk-fields.ts';

type Template = {id: string; clientCreate: ClientCreate | null};

/** A template by its name or its id; a name wins. */
const findTemplate = async (db: Db, organizationId: string, reference: string): Promise<Template | null> => {
	const {rows} = await db.raw<{rows: Template[]}>(
		`SELECT id, client_create AS "clientCreate" FROM templates
		WHERE organization_id = :organizationId AND (name = :reference OR id::text = lower(:reference))
		ORDER BY name = :reference DESC LIMIT 1`,
		{organizationId, reference},
	);
	return rows[0] ?? null;
};

type Content = {organizationId: string; deviceId: string; content: Buffer};

/** The link that the device has for the content; null: none, and the content is reserved for `linkId`. */
const reserve = async (trx: Db, content: Content, linkId: string): Promise<string | null> => {
	for (;;) {
		const {rowCount} = await trx.raw<{rowCount: number}>(
			`INSERT INTO app_links (organization_id, device_id, content, link_id)
			VALUES (:organizationId, :deviceId, :content, :linkId) ON CONFLICT ON CONSTRAINT app_links_pkey DO NOTHING`,
			{...content, linkId},
		);
		if (rowCount > 0) {
			return null;
		}

		const {rows} = await trx.raw<{rows: Array<{link_id: string}>}>(
			`SELECT link_id FROM app_links
			WHERE organization_id = :organizationId AND device_id = :deviceId AND content = :content`,
			content,
		);
		// The link may have been deleted meanwhile.
		if (rows[0] !== undefined) {
			return rows[0].link_id;
		}
	}
};

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
	services: PlanDeps & LimitDeps & Pick<Services, 'addresses' | 'changes' | 'clickJournal' | 'db'>,
	{organization, by, body}: {organization: Organization; by: Caller; body: AppLinkFields},
): Promise<AppLink> => {
	const {deviceId, template: reference, ...fields} = body;
	const organizationId = organization.id;
	const owned = {organizationId, plan: planOf(services, organization)};
	await enforceLimit(services, bodyLimits.sdkDeviceLinks, {subject: `${organizationId} ${deviceId}`, owner: owned});
	await services.clickJournal.settled(organizationId);
	const made = await inTransaction(services.db, async (trx) => {
		const owner = await lockOwner(trx, organizationId);
		const template = await findTemplate(trx, organizationId, reference);
		const id = randomUUID();
		const known =
			template && (await reserve(trx, {organizationId, deviceId, content: contentOf(template, fields)}, id));
		if (known !== null) {
			return known;
		}

		await countNewLink(services, trx, owner, {isByApp: true});
		if (template === null || template.clientCreate === null) {
			throw templateNotOpen();
		}

		const faults = closedFields(template.clientCreate, fields);
		if (faults.length > 0) {
			throw validationFailed(faults);
		}

		const {path, ...others} = fields;
		const input = {...others, ...(path == null ? {} : {path}), templateId: template.id};
		return insertLink(services, trx, {owner, by, fields: input, id});
	});
	if (typeof made === 'string') {
		return {isNew: false, link: await getLink(services, {organization, id: made})};
	}

	await services.changes.settled();
	return {isNew: true, link: made};
};
