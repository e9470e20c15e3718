import {randomUUID} from 'node:crypto';
import {appendFile, mkdir, readdir, readFile, rm} from 'node:fs/promises';
import path from 'node:path';
import type {Db} from '../../src/platform/db/db.ts';
import {createClickPartitions} from '../../src/visits/clicks/click-partitions.ts';
import {JournalCursors} from '../../src/visits/clicks/journal/cursors.ts';
import {encodeEntry} from '../../src/visits/clicks/journal/entry.ts';
import {segmentPath} from '../../src/visits/clicks/journal/files.ts';
import {encodeFrame, encodeSection} from '../../src/visits/clicks/journal/section.ts';
import type {ClickHouseRows} from '../../src/visits/clicks/journal/store.ts';

const campaigns = ['email', 'sms', null].map((channel) =>
	channel === null
		? null
		: {channel, utmSource: null, utmMedium: null, utmCampaign: null, utmContent: null, utmTerm: null},
);

/** Clicks of a frame: those of one turn of the event loop under load. */
const FRAME = 40;
/** Jiffies a second, as Linux shows them. */
const HERTZ = 100;

/** Seconds of CPU time that a process and its children have used; unlike times, they hardly depend on other work. */
const cpuOf = async (pid: number): Promise<number> => {
	let jiffies = 0;
	for (const one of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
		const stat = await readFile(`/proc/${one}/stat`, 'latin1').catch(() => '');
		const fields = stat
			.slice(stat.lastIndexOf(')') + 2)
			.split(' ')
			.map(Number);
		if (Number(one) === pid || fields[1] === pid) {
			jiffies += fields.slice(11, 15).reduce((sum, value) => sum + value, 0);
		}
	}

	return jiffies / HERTZ;
};

export type Setup = {
	db: Db;
	folder: string;
	organizationId: string;
	links: number;
	/** The newest click. */
	until: Date;
	/** Process ids by name. */
	servers: Record<string, number>;
};

const framesOf = ({organizationId, links, until}: Setup, total: number): Buffer[] => {
	const frames: Buffer[] = [];
	for (let first = 0; first < total; first += FRAME) {
		const entries = Array.from({length: FRAME}, (_, offset) => {
			const index = first + offset;
			const context = {
				platform: ['ios', 'android', 'desktop'][index % 3] ?? null,
				os: 'Android',
				osVersion: '14',
				browser: 'Chrome',
				deviceModel: null,
				language: 'de-DE',
				timezone: null,
				country: 'DE',
				host: 'go.example.com',
				botClass: null,
			};
			const click = {
				organizationId,
				linkId: `00000000-0000-4000-8000-${String(index % links).padStart(12, '0')}`,
				campaign: campaigns[index % 3] ?? null,
				referrerHost: index % 2 === 0 ? `site${index % 100}.example` : null,
				context,
				match: null,
			};
			return encodeEntry(click, new Date(until.getTime() - (total - index) * 10));
		});
		frames.push(encodeFrame(encodeSection(entries)));
	}

	return frames;
};

/** How clicks come: all at once, as after an hour without a database, or as a process under load drains them. */
export const shapes = {
	backlog: {tables: Number.POSITIVE_INFINITY, store: Number.POSITIVE_INFINITY},
	'2,000 clicks a second': {tables: 120, store: 960},
} as const;

/**
 * Brings clicks of a journal to where they belong.
 * @param clickHouse null: into PostgreSQL alone. @returns clicks a second, and microseconds of CPU time a click by process.
 */
export const drain = async (
	setup: Setup,
	total: number,
	shape: keyof typeof shapes,
	clickHouse: ClickHouseRows | null,
) => {
	const {db, folder, servers} = setup;
	const journal = path.join(folder, randomUUID());
	await mkdir(journal, {recursive: true});
	const fail = (): void => {
		throw new Error('a click was refused or damaged');
	};
	const cursors = new JournalCursors(journal, {
		db,
		clickPartitions: createClickPartitions(db),
		clickHouse,
		onRefused: fail,
		onDamage: fail,
	});
	const frames = framesOf(setup, total);
	const file = segmentPath(journal, 0);
	const every = shapes[shape];
	const cpu = async (): Promise<Record<string, number>> => ({
		node: process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6,
		...Object.fromEntries(
			await Promise.all(Object.entries(servers).map(async ([name, pid]) => [name, await cpuOf(pid)])),
		),
	});
	const before = await cpu();
	const began = performance.now();
	if (every.tables === Number.POSITIVE_INFINITY) {
		await appendFile(file, Buffer.concat(frames));
		for (const one of [cursors.toPostgres, cursors.toClickHouse]) {
			while (one !== null && (await one.step()) !== null) {
				// Until nothing is left.
			}
		}
	} else {
		for (let first = 0; first < total; first += every.tables) {
			await appendFile(file, Buffer.concat(frames.slice(first / FRAME, (first + every.tables) / FRAME)));
			await cursors.toPostgres.step();
			if ((first + every.tables) % every.store === 0 || first + every.tables >= total) {
				await cursors.toClickHouse?.step();
			}
		}
	}

	const took = (performance.now() - began) / 1000;
	const after = await cpu();
	await rm(journal, {recursive: true});
	const spent = Object.entries(after).map(
		([name, seconds]) => `${name} ${(((seconds - (before[name] ?? 0)) * 1e6) / total).toFixed(1)}`,
	);
	return `${Math.round(total / took).toLocaleString('en')} a second (CPU µs a click: ${spent.join(', ')})`;
};
