import {randomBytes, randomUUID} from 'node:crypto';
import {mkdir, writeFile} from 'node:fs/promises';
import path from 'node:path';
import type {ExecutionContext} from 'ava';
import {pino} from 'pino';
import {JournalCursors} from '../../../src/visits/clicks/journal/cursors.ts';
import {type Click, type Entry, encodeEntry} from '../../../src/visits/clicks/journal/entry.ts';
import {createDamageKeeper, segmentPath} from '../../../src/visits/clicks/journal/files.ts';
import {encodeFrame, encodeSection} from '../../../src/visits/clicks/journal/section.ts';
import {mintMatchToken, type OpenMatch} from '../../../src/visits/matches/open-match.ts';
import type {ClickContext} from '../../../src/visits/visit/click-context.ts';
import {dataDirectory} from '../../helpers/process.ts';
import {storedRows, type TestService} from '../../helpers/service.ts';

/** When the clicks of a test happen. */
export const at = new Date('2026-03-10T12:00:00.000Z');
export const later = (seconds: number): Date => new Date(at.getTime() + seconds * 1000);

/** A hash as the tables keep them, 16 bytes in hexadecimal. */
export const hash = (): string => randomBytes(16).toString('hex');

/** What is kept of a cookie that a click set at that time. */
export const visitorHash = (time = at): string => time.getTime().toString(16).padStart(12, '0') + hash().slice(12);

export const matchOf = (
	visitor: OpenMatch['visitor'] = null,
	deviceModel: string | null = 'iPhone15,2',
): OpenMatch => ({
	token: mintMatchToken(at),
	windowHours: 1,
	network: {ipKey: hash(), netKey: hash()},
	signals: {platform: 'ios', osVersion: null, deviceModel, language: 'en', timezone: null, browser: 'Safari'},
	visitor,
	query: null,
});

const safari = {platform: 'ios', os: 'iOS', osVersion: '17.5.1', browser: 'Safari', language: 'en'} as const;
const unknown = {deviceModel: null, timezone: null, country: null, host: null, botClass: null};

/** A visit by Safari on an iPhone of which no more is known. */
export const contextOf = (more: Partial<ClickContext> = {}): ClickContext => ({...unknown, ...safari, ...more});

export const clickOn = (owner: {id: string}, linkId: string, more: Partial<Click> = {}): Click => ({
	organizationId: owner.id,
	linkId,
	campaign: null,
	context: contextOf(),
	referrerHost: null,
	match: matchOf(),
	...more,
});

export const frameOf = (entries: Entry[]): Buffer => encodeFrame(encodeSection(entries));

/** The frame of one click on a link. */
export const frameOn = (owner: {id: string}, linkId: string): Buffer => frameOf([entry(clickOn(owner, linkId))]);

/** A journal that a process left behind. */
export const leftBehind = async (t: ExecutionContext, {services}: TestService, frames: Buffer[]) => {
	const journal = randomUUID();
	const folder = path.join(await dataDirectory(t), 'database', journal);
	await mkdir(folder, {recursive: true});
	await writeFile(segmentPath(folder, 0), Buffer.concat(frames));
	let refused = 0;
	const lines: string[] = [];
	const onDamage = createDamageKeeper(pino({base: null}, {write: (line: string) => lines.push(line)}));
	const onRefused = () => {
		refused += 1;
	};
	const {db, clickPartitions} = services;
	const cursorsOf = () => new JournalCursors(folder, {db, clickPartitions, clickHouse: null, onRefused, onDamage});
	const drain = async (one = cursorsOf()) => {
		while ((await one.toPostgres.step()) !== null) {
			// Until nothing is left.
		}
	};
	return {
		folder,
		journal,
		drain,
		cursorsOf,
		refused: () => refused,
		logged: () => lines.map((line) => JSON.parse(line)),
	};
};

export const entry = (click: Click, time = at): Entry => encodeEntry(click, time);

/** How many clicks of an organization with one link are stored, wait for a match, and are counted. */
export const storedOf = async (service: TestService, owner: {id: string}, linkId: string) => ({
	clicks: (await storedRows(service, 'clicks', {link_id: linkId})).length,
	matches: (await storedRows(service, 'match_clicks', {link_id: linkId})).length,
	counted: await countOf(service, owner),
});

/** Clicks that are counted for an organization. */
export const countOf = async ({services}: TestService, owner: {id: string}): Promise<number> => {
	const [row] = await services.db('click_counts').where({organization_id: owner.id});
	return Number(row?.clicks ?? 0);
};
