import {figure} from './figure.ts';
import {type Installation, pathOf, type Server} from './installation.ts';
import {load} from './load.ts';
import {cpuSeconds} from './processes.ts';
import {ANDROID, addressOf, IPHONE, post} from './requests.ts';
import type {Measure} from './stage.ts';
import {quantile} from './statistics.ts';

const LINKS = 1000;

/** Who clicked from an address that is asked for by a score: the phone that is meant, and others. */
const PHONES = [IPHONE, ANDROID, IPHONE.replace('17_5_1', '16_6'), ANDROID.replace('137', '136')];

/** What the app of the phone that is meant says. */
const APP = {
	platform: 'iOS',
	osVersion: '17.5.1',
	deviceModel: 'iPhone15,2',
	language: 'en-GB',
	timezone: 'Europe/London',
};

/** Tokens come from Android, where the store hands them on: an iPhone without one is then nothing unusual. */
const WITH_TOKEN = {...APP, platform: 'Android', osVersion: '14', deviceModel: 'Pixel 8'};

/** Clicks that wait for an app, of the last day, from a quarter of a million addresses. */
const fill = async ({client, organization}: Installation, count: number): Promise<void> => {
	await client.query('BEGIN');
	await client.query('SET LOCAL session_replication_role = replica');
	await client.query(
		`INSERT INTO match_clicks (id, click_id, organization_id, link_id, ip_key, net_key, platform,
			os_major, os_minor, os_patch, os_precision, device_model, language, created_at, expires_at)
		SELECT click.id, click.id, CAST($1 AS uuid), links.id,
			decode(md5('i' || n % 250000), 'hex'), decode(md5('n' || n % 50000), 'hex'), 'ios', 17, 5, 1, 'patch',
			'iPhone', 'en-US', now() - random() * interval '1 day', now() + interval '6 days'
		FROM generate_series(1, CAST($2 AS int)) AS n CROSS JOIN LATERAL (SELECT gen_random_uuid() AS id WHERE n > 0) AS click
		JOIN links ON links.organization_id = CAST($1 AS uuid) AND links.short_code = 'c' || (1 + n % ${LINKS})`,
		[organization.id, count],
	);
	await client.query('COMMIT');
	await client.query('VACUUM ANALYZE match_clicks');
};

/** The address of the n-th app that is asked for, which nobody else has. */
const appAddress = (n: number): string => addressOf(1_000_000 + n);

/** Visits pages, one after the other, so many from each address, and gives the tokens that they showed. */
const click = async (installation: Installation, {url}: Server, count: number, phones: string[]) => {
	const tokens: string[] = [];
	const {bad} = await load(url, {
		connections: 1,
		seconds: 600,
		most: count * phones.length,
		request: (n) =>
			`GET ${pathOf(installation, 1 + (n % phones.length))} HTTP/1.1\r\nHost: ${url.host}\r\n` +
			`X-Forwarded-For: ${appAddress(Math.floor(n / phones.length))}\r\n` +
			`User-Agent: ${phones[n % phones.length]}\r\nAccept-Language: en-US,en;q=0.9\r\n\r\n`,
		onAnswer: (n, _status, body) => {
			tokens[n] = /"(opl_[A-Za-z0-9]{32})"/.exec(body)?.[1] ?? '';
		},
	});
	installation.expect(count * phones.length - bad);
	return tokens;
};

type Question = {body: object; address: string; method: string};

/** Asks one after the other. Each has to be matched, by the method that is measured. */
const ask = async ({url, pid}: Server, questions: Question[], postmaster: number) => {
	const methods = new Map<string, number>();
	let wrong = 0;
	const before = cpuSeconds([pid], postmaster);
	const measured = await load(url, {
		connections: 1,
		seconds: 600,
		most: questions.length,
		request: (n) => post(url, '/match', questions[n]?.address ?? '', questions[n]?.body ?? {}),
		onAnswer: (n, _status, body) => {
			const {matchMethod} = JSON.parse(body);
			methods.set(matchMethod, (methods.get(matchMethod) ?? 0) + 1);
			wrong += matchMethod === questions[n]?.method ? 0 : 1;
		},
	});
	return {
		p50: quantile(measured.latencies, 0.5),
		p99: quantile(measured.latencies, 0.99),
		cpu: ((cpuSeconds([pid], postmaster) - before) * 1e6) / measured.answered,
		failures: wrong === 0 ? [] : [`matched by ${JSON.stringify([...methods])}`],
	};
};

/** `/match` among a million clicks that wait, one app at a time: by the page's token, and by likeness. */
export const match: Measure = {
	name: 'match',
	measure: async ({installation: open, postmaster, quick, progress}) => {
		const pending = quick ? 50_000 : 1_000_000;
		const count = quick ? 100 : 1000;
		const installation = await open({links: LINKS});
		progress(`match: filling ${pending} pending clicks`);
		await fill(installation, pending);
		const server = await installation.start();
		const tokens = await click(installation, server, 2 * count, [ANDROID]);
		const failures = await installation.failures();
		const byToken = tokens.map((token, n) => ({
			body: {...WITH_TOKEN, clipboardToken: token, deviceId: `by-token-${n}`},
			address: addressOf(2_000_000 + n),
			method: 'CLIPBOARD',
		}));
		// The first half warms up.
		await ask(server, byToken.slice(0, count), postmaster);
		const token = await ask(server, byToken.slice(count), postmaster);

		await click(installation, server, 2 * count, PHONES);
		failures.push(...(await installation.failures()));
		const byScore = Array.from({length: 2 * count}, (_, n) => ({
			body: {...APP, deviceId: `by-score-${n}`},
			address: appAddress(n),
			method: 'FINGERPRINT_SCORED',
		}));
		await ask(server, byScore.slice(0, count), postmaster);
		const score = await ask(server, byScore.slice(count), postmaster);
		await installation.close();

		const at = (value: number) => ({value, low: value, high: value, unit: 'ms' as const});
		const among = `at ${pending.toLocaleString('en')} pending clicks`;
		return [
			figure({
				name: `/match by token, p50, ${among}`,
				...at(token.p50),
				bar: {atMost: 1},
				notes: [`p99 ${token.p99.toFixed(2)} ms; ${token.cpu.toFixed(0)} µs of CPU each`],
				failures: [...failures, ...token.failures],
			}),
			figure({
				name: `/match by score, p50, ${among}`,
				...at(score.p50),
				bar: {atMost: 1.5},
				notes: [`${PHONES.length} clicks from the address; ${score.cpu.toFixed(0)} µs of CPU each`],
				failures: score.failures,
			}),
			figure({name: `/match by score, p99, ${among}`, ...at(score.p99), bar: {atMost: 5}}),
		];
	},
};
