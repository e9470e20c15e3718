import {randomUUID} from 'node:crypto';
import {createClock} from '../../src/platform/clock.ts';
import type {Db} from '../../src/platform/db/db.ts';
import {createClickPartitions} from '../../src/visits/clicks/click-partitions.ts';

const DAYS = 5;
const DAY_MS = 86_400_000;

/** What the pictures are of: an organization with four links, made through the API of the server at `url`. */
export const makeOrganization = async (url: string, token: string) => {
	const call = async (method: string, path: string, body: unknown, headers: Record<string, string> = {}) => {
		const answer = await fetch(`${url}${path}`, {
			method,
			headers: {Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', ...headers},
			body: JSON.stringify(body),
		});
		if (!answer.ok) {
			throw new Error(`${method} ${path} is ${answer.status}: ${await answer.text()}`);
		}

		return (await answer.json()) as {id: string; orgKey: string; url: string};
	};
	const acme = await call('POST', '/admin/organizations', {name: 'Acme Outdoor', plan: 'ENTERPRISE'});
	const below = `/admin/organizations/${acme.id}`;
	await call('PUT', `${below}/app-config`, {
		ios: {teamId: 'ABCDE12345', bundleId: 'com.acme.shop', appStoreId: '123456789', scheme: 'acme'},
		android: [],
	});
	const links = [];
	for (const [shortCode, title] of [
		['spring', 'Spring sale'],
		['tents', 'Tents for two'],
		['app', 'Get the app'],
		['invite', 'Invite a friend'],
	]) {
		links.push(await call('POST', `${below}/links`, {path: `/${shortCode}`, shortCode, title}));
	}

	const keys = await fetch(`${url}${below}/api-keys`, {headers: {Authorization: `Bearer ${token}`}});
	const {sdkKey} = (await keys.json()) as {sdkKey: {displayKey: string}};
	return {...acme, links, clientKey: sdkKey.displayKey};
};

/** Days and an hour of clicks before the recording, which no caller could have made meanwhile. */
export const addHistory = async (db: Db, organizationId: string, links: ReadonlyArray<{id: string}>): Promise<void> => {
	const partitions = createClickPartitions(db);
	const insert = async (at: Date, clicks: number) => {
		await partitions.ensure(at);
		await db('clicks').insert(
			Array.from({length: clicks}, (_, index) => ({
				id: randomUUID(),
				occurred_at: at,
				organization_id: organizationId,
				link_id: links[(index % 7) % links.length]?.id,
				context_id: db.raw(
					'keep_click_context(CAST(? AS timestamptz), ?, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)',
					[at, ['ios', 'android', 'ios', 'desktop'][index % 4] ?? null],
				),
				channel: ['email', 'social', null][index % 3],
			})),
		);
	};
	const now = createClock(0).now().getTime();
	for (let day = 1; day < DAYS; day += 1) {
		await insert(new Date(now - day * DAY_MS), Math.round(2400 + 900 * Math.sin(day / 1.7)));
	}

	for (let minute = 1; minute < 60; minute += 1) {
		await insert(
			new Date(now - minute * 60_000),
			Math.round(150 + 60 * Math.sin(minute / 7) + 25 * Math.sin(minute * 2)),
		);
	}
};

const AGENTS = [
	'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
	'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/137.0.0.0 Mobile Safari/537.36',
	'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/137.0.0.0 Safari/537.36',
];

type Person = {url: string; link: {url: string}; clientKey: string; turn: number; agent: string};

/** One person opens a link; every other one then opens the app for the first time, and some buy something. */
const visit = async ({url, link, clientKey, turn, agent}: Person): Promise<void> => {
	const from = {'X-Forwarded-For': `198.51.${turn >> 8}.${turn & 255}`};
	const page = await (await fetch(link.url, {headers: {...from, 'User-Agent': agent}})).text();
	const [token] = /opl_[A-Za-z0-9]{32}/.exec(page) ?? [];
	// Nobody installs the app on a desktop.
	if (turn % 2 === 1 || token === undefined || agent.includes('Windows')) {
		return;
	}

	const isApple = agent.includes('iPhone');
	const deviceId = `device-${turn}`;
	const post = (path: string, body: object, headers: Record<string, string>) =>
		fetch(`${url}${path}`, {
			method: 'POST',
			headers: {...from, 'Content-Type': 'application/json', ...headers},
			body: JSON.stringify(body),
		});
	const carried = isApple ? {clipboardToken: token} : {installReferrer: token};
	const reported = {deviceId, platform: isApple ? 'iOS' : 'Android', osVersion: isApple ? '17.5.1' : '14'};
	await post('/match', {...reported, ...(turn % 3 === 0 ? {} : carried)}, {'X-API-Key': clientKey});
	if (turn % 8 === 0) {
		await post('/sdk/events', {deviceId, eventName: 'purchase'}, {Authorization: `Bearer ${clientKey}`});
	}
};

/** People who open links, a few at a time, until the function that it gives back is called. */
export const startClicking = (
	url: string,
	{links, clientKey}: {links: ReadonlyArray<{url: string}>; clientKey: string},
): (() => void) => {
	let turn = 0;
	const timer = setInterval(() => {
		const people = Math.max(0, Math.round(2 + 2 * Math.sin(turn / 11) + Math.sin(turn / 3)));
		for (let person = 0; person < people; person += 1) {
			turn += 1;
			const link = links[(turn % 7) % links.length];
			const agent = AGENTS[[0, 1, 0, 0, 2, 1, 0][turn % 7] ?? 0];
			if (link !== undefined && agent !== undefined) {
				visit({url, link, clientKey, turn, agent}).catch(() => {});
			}
		}

		turn += 1;
	}, 400);
	return () => clearInterval(timer);
};
