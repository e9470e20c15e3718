import type {Logger} from 'pino';
import {readEffectiveAddresses} from '../../links/links/effective-addresses.ts';
import {type Addresses, addressesOf} from '../../links/links/link-safety.ts';
import type {Clock} from '../../platform/clock.ts';
import type {Config} from '../../platform/config/config.ts';
import type {Db} from '../../platform/db/db.ts';
import {withLeaseIfFree} from '../../platform/db/lease.ts';
import {run, sql} from '../../platform/db/sql.ts';
import type {LinkPolicy} from '../../platform/policy/link-policy.ts';
import {countReports} from './abuse-report-store.ts';

/** Links that are read together: a few milliseconds. */
const BATCH = 2000;

/** The effective addresses of the next links without an operator's decision, by id. */
const nextLinks = (db: Db, after: string): Promise<Array<Addresses & {id: string}>> =>
	readEffectiveAddresses(db, 'addresses of links', sql`links.id > ${after}::uuid ORDER BY links.id LIMIT ${BATCH}`);

const FIRST = '00000000-0000-0000-0000-000000000000';

/** How many stored links the lists block and warn of. */
const checkLinks = async (db: Db, policy: LinkPolicy): Promise<Record<'block' | 'warn', number>> => {
	const counts = {block: 0, warn: 0};
	let after = FIRST;
	for (;;) {
		const links = await nextLinks(db, after);
		for (const link of links) {
			const state = policy.ofAll(addressesOf(link))?.state;
			if (state !== undefined) {
				counts[state] += 1;
			}
		}

		const last = links.at(-1);
		if (last === undefined || links.length < BATCH) {
			return counts;
		}

		after = last.id;
	}
};

const countByOperators = async (db: Db): Promise<number> => {
	const [row] = await run<{count: number}>(
		db,
		sql`SELECT count(*)::integer AS count FROM links WHERE decision ->> 'state' = 'block'`,
	);
	return row?.count ?? 0;
};

type Deps = {
	clock: Clock;
	config: Pick<Config, 'abuseContact'>;
	db: Db;
	linkPolicy: LinkPolicy;
	log: Pick<Logger, 'info'>;
};

/** The figures of abuse. The jobs read them: metrics need no database. */
export class AbuseFigures {
	readonly #services: Deps;
	/** The version of the lists by which stored links were checked last. */
	#checked = 0;
	openReports = 0;
	blocked = {list: 0, operator: 0};

	constructor(services: Deps) {
		this.#services = services;
	}

	/** Reads the lists that have changed and the counts; checks stored links after a change of a list. */
	async refresh(): Promise<void> {
		const {clock, config, db, linkPolicy, log} = this.#services;
		await linkPolicy.refresh();
		this.blocked.operator = await countByOperators(db);
		if (config.abuseContact !== null) {
			this.openReports = (await countReports(db)).open;
		}

		const {version} = linkPolicy;
		if (version === this.#checked) {
			return;
		}

		await withLeaseIfFree({db, clock}, 'check links', async () => {
			const counts = linkPolicy.isEmpty ? {block: 0, warn: 0} : await checkLinks(db, linkPolicy);
			this.blocked.list = counts.block;
			log.info({blocked: counts.block, warned: counts.warn}, 'checked the stored links after a change of the lists');
		});
		this.#checked = version;
	}
}
