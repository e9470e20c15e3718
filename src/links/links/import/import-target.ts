import {randomUUID} from 'node:crypto';
import type {Caller} from '../../../accounts/audit/audit-log.ts';
import type {Addresses} from '../../../platform/config/config.ts';
import type {Db} from '../../../platform/db/db.ts';
import {execute, run, sql} from '../../../platform/db/sql.ts';
import type {HttpError} from '../../../platform/errors.ts';
import type {ValueOf} from '../../../platform/http/answer.ts';
import type {LinkOwner, LinkRow} from '../link.ts';
import type {importLineAnswer} from '../link-answer.ts';
import type {LinkReferences} from '../link-references.ts';
import {createLinkStore} from '../link-store.ts';
import {type Creator, readCreator} from '../link-terms.ts';
import {generateShortCode, insertLinks, type NewRow} from '../link-writer.ts';
import {shortUrl} from '../short-code.ts';

/** A link that an import has found or created. */
export type ImportedLink = LinkRow & {isNew: boolean; hasOwnCode: boolean};

/** The links that a chunk of an import is applied to: the real ones, or a dry run's copy of those that it touches. */
export type ImportTarget = {
	isDryRun: boolean;
	/** For reading referenced rows. */
	db: Db;
	/** The organization. Except in a dry run, its links' count and all names are locked until the transaction ends. */
	creator(): Promise<Creator>;
	find(names: {shortCodes: string[]; externalIds: string[]}): Promise<ImportedLink[]>;
	/** Locks links until the transaction ends, and returns them. */
	lock(links: ImportedLink[]): Promise<ImportedLink[]>;
	/** A short code for a link without its own. */
	newShortCode(): string;
	/** Inserts links, counts them and records their creation. */
	insert(rows: Array<Omit<NewRow, 'by'> & {link: ImportedLink}>): Promise<void>;
	update(links: ImportedLink[]): Promise<void>;
};

const held = (rows: LinkRow[]): ImportedLink[] => rows.map((row) => ({...row, isNew: false, hasOwnCode: true}));

/** Applies rows to the stored links, in the transaction of one chunk. */
export const realTarget = (trx: Db, organizationId: string, {now, by}: {now: Date; by: Caller}): ImportTarget => {
	const store = createLinkStore(trx, organizationId);
	return {
		isDryRun: false,
		db: trx,
		creator: () => readCreator(trx, {organizationId, now}, 'lock'),
		find: async (names) => held(await store.findNamed(names)),
		lock: async (links) => held(await store.lockAll(links.map(({id}) => id))),
		newShortCode: generateShortCode,
		insert: (rows) =>
			insertLinks(
				trx,
				{now},
				rows.map((row) => ({...row, by})),
			),
		update: (links) => store.update(links),
	};
};

/**
 * A dry run: the links that rows would create are in a temporary table, in which later rows find them, however long the
 * input is. No link and no count is locked or written.
 * @param trx a transaction that is rolled back when the input has ended.
 */
export const dryRunTarget = async (db: Db, trx: Db, organizationId: string, now: Date): Promise<ImportTarget> => {
	await execute(
		trx,
		sql`CREATE TEMPORARY TABLE dry_run_links
			(LIKE links INCLUDING INDEXES, "isNew" boolean NOT NULL, "hasOwnCode" boolean NOT NULL)
		ON COMMIT DROP`,
	);
	let allCreated = 0;

	const write = async (links: ImportedLink[]): Promise<void> => {
		await execute(trx, sql`DELETE FROM dry_run_links WHERE id = ANY (${links.map(({id}) => id)})`);
		await execute(
			trx,
			sql`INSERT INTO dry_run_links SELECT * FROM jsonb_populate_recordset(null::dry_run_links, ${JSON.stringify(links)})`,
		);
	};

	return {
		isDryRun: true,
		db,
		creator: async () => {
			const {counts, ...creator} = await readCreator(db, {organizationId, now}, 'read');
			return {...creator, counts: {...counts, links: counts.links + allCreated}};
		},
		find: ({shortCodes, externalIds}) => {
			const isNamed = sql`(short_code = ANY (${shortCodes}) OR external_id = ANY (${externalIds}))`;
			return run(
				trx,
				sql`SELECT * FROM dry_run_links WHERE ${isNamed}
				UNION ALL
				SELECT links.*, false, true FROM links WHERE organization_id = ${organizationId} AND ${isNamed}
					AND NOT EXISTS (SELECT FROM dry_run_links WHERE dry_run_links.id = links.id)`,
			);
		},
		lock: async (links) => links,
		// Never shown, so it must only be unique.
		newShortCode: randomUUID,
		insert: async (rows) => {
			await write(rows.map(({link}) => link));
			allCreated += rows.length;
		},
		update: write,
	};
};

export type RowResult = {line: number} & (
	| {status: 'created' | 'updated' | 'skipped'; link: ImportedLink}
	| {status: 'failed'; error: HttpError}
);

export type ImportAnswer = ValueOf<typeof importLineAnswer>;

/** The error as the envelope would show it for the row alone. */
const errorJson = ({status, message, details, extras}: HttpError) => ({
	statusCode: status,
	message,
	...(details === null ? {} : {details}),
	...extras,
});

/** A dry run has no id for a link that does not exist yet, and its URL only if the row gives the short code. */
export const importAnswer = (
	addresses: Addresses,
	{orgKey}: LinkOwner,
	references: LinkReferences,
	{isDryRun}: ImportTarget,
	result: RowResult,
): ImportAnswer => {
	if (result.status === 'failed') {
		return {line: result.line, status: result.status, error: errorJson(result.error)};
	}

	const {line, status, link} = result;
	const {hostname} = references.view(link);
	return {
		line,
		status,
		...(isDryRun && link.isNew ? {} : {id: link.id}),
		...(isDryRun && !link.hasOwnCode ? {} : {url: shortUrl(addresses, {hostname, orgKey, shortCode: link.short_code})}),
	};
};
