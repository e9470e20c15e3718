import {setTimeout as delay} from 'node:timers/promises';
import type {Logger} from 'pino';
import {readNextAddresses} from '../../links/links/link-safety.ts';
import type {Clock} from '../../platform/clock.ts';
import type {Config} from '../../platform/config/config.ts';
import {type Db, onlyRow} from '../../platform/db/db.ts';
import {withLeaseIfFree} from '../../platform/db/lease.ts';
import {run, sql} from '../../platform/db/sql.ts';
import type {LinkPolicy} from '../../platform/policy/link-policy.ts';
import {countOpenReports} from './abuse-report-store.ts';

/** Links that are read and judged before visits have their turn: a millisecond. */
const BATCH = 200;
/** Links a second at most: 1,000,000 take 50 s, and the pages have the rest of the processor. */
const PACE = 20_000;

const FIRST = '00000000-0000-0000-0000-000000000000';

/** A change of a list during a check is in use as soon as at other times. */
const LOOK_MS = 20_000;

type Counts = Record<'block' | 'warn', number>;

/**
 * How many stored links without an operator's decision the lists block and warn of, by the newest lists: it starts again
 * if they change meanwhile. Null if the process stops.
 */
const checkLinks = async (db: Db, policy: LinkPolicy, isStopping: () => boolean): Promise<Counts | null> => {
	const {version} = policy;
	const counts = {block: 0, warn: 0};
	const began = performance.now();
	let [checked, looked] = [0, began];
	let after = policy.isEmpty ? null : FIRST;
	while (after !== null) {
		const {addresses, count, last} = await readNextAddresses(db, {after, limit: BATCH});
		for (const link of addresses?.split('\n\n') ?? []) {
			const verdict = policy.ofAll(link.split('\n'));
			if (verdict !== null) {
				counts[verdict.state] += 1;
			}
		}

		after = last;
		checked += count;
		await delay(Math.max(0, began + (checked / PACE) * 1000 - performance.now()));
		if (performance.now() - looked > LOOK_MS) {
			looked = performance.now();
			await policy.refresh();
		}

		if (isStopping()) {
			return null;
		}

		if (policy.version !== version) {
			return checkLinks(db, policy, isStopping);
		}
	}

	return counts;
};

const countByOperators = async (db: Db): Promise<number> =>
	onlyRow(
		await run<{count: number}>(
			db,
			sql`SELECT count(*)::integer AS count FROM links WHERE decision ->> 'state' = 'block'`,
		),
	).count;

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
	async refresh(isStopping = () => false): Promise<void> {
		const {clock, config, db, linkPolicy, log} = this.#services;
		await linkPolicy.refresh();
		this.blocked.operator = await countByOperators(db);
		if (config.abuseContact !== null) {
			this.openReports = (await countOpenReports(db)).open;
		}

		if (linkPolicy.version === this.#checked) {
			return;
		}

		// Only one process checks; the figures of other processes would be those of former lists.
		this.blocked.list = 0;
		await withLeaseIfFree({db, clock}, 'check links', async () => {
			const counts = await checkLinks(db, linkPolicy, isStopping);
			if (counts !== null) {
				this.blocked.list = counts.block;
				log.info({blocked: counts.block, warned: counts.warn}, 'checked the stored links after a change of the lists');
			}
		});
		this.#checked = linkPolicy.version;
	}
}
