/**
 * What goes out, on a real server, PostgreSQL and receivers on this machine: deliveries a second, what a slow endpoint does
 * to quick ones, events lost through `kill -9`, rows of an export a second and its memory. `npm run bench:outward`
 */
import {once} from 'node:events';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {setTimeout as delay} from 'node:timers/promises';
import {closeDb, createDb} from '../../src/platform/db/db.ts';
import {createClickPartitions} from '../../src/visits/clicks/click-partitions.ts';
import {send} from '../../test/helpers/callers.ts';
import {ADMIN_TOKEN, type Server} from '../performance/installation.ts';
import {openStage} from '../performance/stage.ts';
import {quantile} from '../performance/statistics.ts';

const DELIVERIES = 10_000;
const ROWS = 1_000_000;
const KILLS = 10;

const {stage, close} = await openStage(false);
const installation = await stage.installation({links: 10});
const {client, organization} = installation;
const admin = async (server: Server, method: string, path: string, body?: object) => {
	const answer = await send(
		server.url.href,
		method,
		path,
		{Authorization: `Bearer ${ADMIN_TOKEN}`, 'Content-Type': 'application/json'},
		body === undefined ? undefined : JSON.stringify(body),
	);
	if (answer.status >= 400) {
		throw new Error(`${method} ${path}: ${answer.text}`);
	}

	return answer.body;
};

type Hook = {url: string; ids: Map<string, number>; delays: number[]};
const receiver = async (answerAfter: number): Promise<Hook> => {
	const hook: Hook = {url: '', ids: new Map(), delays: []};
	const server = createServer((request, response) => {
		let body = '';
		request.on('data', (chunk) => {
			body += chunk;
		});
		request.on('end', async () => {
			const {data, timestamp} = JSON.parse(body);
			const id = String(data.id);
			hook.ids.set(id, (hook.ids.get(id) ?? 0) + 1);
			hook.delays.push(Date.now() - Date.parse(timestamp));
			if (answerAfter > 0) {
				await delay(answerAfter);
			}

			response.writeHead(204).end();
		});
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	server.unref();
	hook.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
	return hook;
};

const endpoints = `/admin/organizations/${organization.id}/webhook-endpoints`;
const until = async (isDone: () => boolean, seconds: number): Promise<boolean> => {
	for (let waited = 0; !isDone() && waited < seconds * 20; waited += 1) {
		await delay(50);
	}

	return isDone();
};

// Deliveries a second: events that are there before the server is.
let server = await installation.start();
const quick = await receiver(0);
const {id: quickId} = await admin(server, 'POST', endpoints, {url: quick.url, events: ['event.tracked']});
await server.stop();
await client.query(
	`INSERT INTO events (id, organization_id, event_name, properties, occurred_at, received_at)
	SELECT gen_random_uuid(), $1, 'purchase', '{"price": 12.5}', now(), now() FROM generate_series(1, $2)`,
	[organization.id, DELIVERIES],
);
server = await installation.start();
await until(() => quick.ids.size > 0, 60);
const began = performance.now();
await until(() => quick.ids.size >= DELIVERIES, 120);
const seconds = (performance.now() - began) / 1000;
console.log(
	`deliveries a second: ${Math.round(quick.ids.size / seconds)} (${quick.ids.size} in ${seconds.toFixed(1)} s), bar 1000`,
);

// A slow endpoint beside nine quick ones.
await admin(server, 'DELETE', `${endpoints}/${quickId}`);
const slow = await receiver(15_000);
const others = await Promise.all(Array.from({length: 9}, () => receiver(0)));
for (const {url} of [slow, ...others]) {
	await admin(server, 'POST', endpoints, {url, events: ['link.created']});
}

for (let index = 0; index < 200; index += 1) {
	await admin(server, 'POST', `/admin/organizations/${organization.id}/links`, {path: `/slow/${index}`});
}

await until(() => others.every(({ids}) => ids.size >= 200), 60);
const delays = Float64Array.from(others.flatMap((hook) => hook.delays)).sort();
console.log(
	`quick endpoints beside one of 15 s: p50 ${quantile(delays, 0.5)} ms, p99 ${quantile(delays, 0.99)} ms, bar 1000; ${delays.length} deliveries`,
);
const {data: all} = await admin(server, 'GET', `${endpoints}?limit=100`);
for (const {id} of all) {
	await admin(server, 'DELETE', `${endpoints}/${id}`);
}

// kill -9 under load: each acknowledged link is heard of.
const heard = await receiver(0);
await admin(server, 'POST', endpoints, {url: heard.url, events: ['link.created']});
const acknowledged: string[] = [];
for (let kill = 0; kill < KILLS; kill += 1) {
	let isRunning = true;
	const load = async () => {
		while (isRunning) {
			try {
				const {id} = await admin(server, 'POST', `/admin/organizations/${organization.id}/links`, {path: '/kill'});
				acknowledged.push(id);
			} catch {
				return;
			}
		}
	};
	const loads = Promise.all(Array.from({length: 4}, load));
	await delay(500 + Math.random() * 1000);
	await server.stop('SIGKILL');
	isRunning = false;
	await loads;
	server = await installation.start();
}

await until(() => acknowledged.every((id) => heard.ids.has(id)), 90);
const lost = acknowledged.filter((id) => !heard.ids.has(id)).length;
const twice = [...heard.ids.values()].filter((count) => count > 1).length;
const {rows: outbox} = await client.query(
	`SELECT count(*) - count(DISTINCT body) AS doubled FROM endpoint_deliveries WHERE type = 'link.created'`,
);
console.log(
	`kill -9 ${KILLS} times: ${acknowledged.length} links acknowledged, ${lost} lost, ${outbox[0].doubled} told twice in the outbox; ${twice} tried again with the same id`,
);

// An export of a million clicks.
const db = createDb(installation.databaseUrl);
await createClickPartitions(db).ensure(new Date());
await closeDb(db);
await client.query(
	`INSERT INTO click_contexts (id, month, platform, os, browser, language, country)
		VALUES (1, date_trunc('month', now()), 'ios', 'iOS', 'Safari', 'en', 'DE') ON CONFLICT DO NOTHING`,
);
await client.query(
	`INSERT INTO clicks (id, occurred_at, organization_id, link_id, context_id, channel, referrer_host)
	SELECT gen_random_uuid(), now(), $1, (SELECT id FROM links WHERE organization_id = $1 LIMIT 1), 1, 'email', 'news.example.com'
	FROM generate_series(1, $2)`,
	[organization.id, ROWS],
);
const memory = async (pid: number): Promise<number> => {
	const {readFile} = await import('node:fs/promises');
	return Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
};
for (const format of ['ndjson', 'csv']) {
	let [lines, most] = [0, 0];
	const watch = setInterval(async () => {
		most = Math.max(most, await memory(server.pid));
	}, 100);
	const start = performance.now();
	const response = await fetch(
		new URL(`/admin/organizations/${organization.id}/export/clicks?format=${format}`, server.url),
		{
			headers: {Authorization: `Bearer ${ADMIN_TOKEN}`},
		},
	);
	for await (const chunk of response.body ?? []) {
		for (const byte of chunk as Uint8Array) {
			lines += byte === 10 ? 1 : 0;
		}
	}

	clearInterval(watch);
	const took = (performance.now() - start) / 1000;
	console.log(
		`export as ${format}: ${Math.round(lines / took)} rows/s (${lines - 1} rows), bar 100000; most resident memory ${Math.round(most)} MB, bar 200`,
	);
}

// Twenty runs, cut at random places, while clicks arrive in transactions that commit in any order.
const seen = new Map<string, number>();
const path = `/admin/organizations/${organization.id}/export/clicks`;
let [cursor, isArriving, cut] = ['', true, 0];
const arriving = Promise.all(
	Array.from({length: 4}, async () => {
		while (isArriving) {
			await client.query(
				`INSERT INTO clicks (id, occurred_at, organization_id, link_id, context_id)
				SELECT gen_random_uuid(), now(), $1, (SELECT id FROM links WHERE organization_id = $1 LIMIT 1), 1
				FROM generate_series(1, 500), pg_sleep($2)`,
				[organization.id, Math.random() / 10],
			);
		}
	}),
);
/** Rows of a run count when it has ended; a cut one is repeated from the same cursor. */
const exportOnce = async (cutAfter: number | null): Promise<boolean> => {
	const ends = new AbortController();
	const timer = cutAfter === null ? null : setTimeout(() => ends.abort(), cutAfter);
	const ids: string[] = [];
	try {
		const response = await fetch(new URL(`${path}${cursor === '' ? '' : `?cursor=${cursor}`}`, server.url), {
			headers: {Authorization: `Bearer ${ADMIN_TOKEN}`},
			signal: ends.signal,
		});
		let rest = '';
		const decoder = new TextDecoder();
		for await (const chunk of response.body ?? []) {
			const lines = (rest + decoder.decode(chunk as Uint8Array, {stream: true})).split('\n');
			rest = lines.pop() ?? '';
			for (const line of lines) {
				const id = /^\{"id":"([0-9a-f-]{36})"/.exec(line)?.[1];
				if (id !== undefined) {
					ids.push(id);
				}

				cursor = /^\{"cursor":"([\w-]+)"\}$/.exec(line)?.[1] ?? cursor;
			}
		}
	} catch {
		return false;
	} finally {
		if (timer !== null) {
			clearTimeout(timer);
		}
	}

	for (const id of ids) {
		seen.set(id, (seen.get(id) ?? 0) + 1);
	}

	return true;
};
for (let run = 0; run < 20; run += 1) {
	cut += (await exportOnce(run % 2 === 0 ? Math.random() * 3000 : null)) ? 0 : 1;
}

isArriving = false;
await arriving;
await exportOnce(null);
const {rows: stored} = await client.query('SELECT count(*) AS count FROM clicks WHERE organization_id = $1', [
	organization.id,
]);
const doubled = [...seen.values()].filter((count) => count > 1).length;
console.log(
	`21 exports while clicks arrive, ${cut} of them cut: ${Number(stored[0].count) - seen.size} rows skipped, ${doubled} doubled, of ${stored[0].count}`,
);

await installation.close();
await close();
process.exit(0);
