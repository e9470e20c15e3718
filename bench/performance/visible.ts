import {setTimeout as delay} from 'node:timers/promises';
import {send} from '../../test/helpers/callers.ts';
import {figure} from './figure.ts';
import {pathOf, warm} from './installation.ts';
import {addressOf, IPHONE} from './requests.ts';
import type {Measure} from './stage.ts';
import {quantile} from './statistics.ts';

const LINKS = 100;
/** Between two questions. */
const PAUSE_MS = 2;

/** Asks until the answer is the one that is waited for. @returns how many ms that took from `since` on. */
const until = async (since: number, isThere: () => Promise<boolean>): Promise<number> => {
	while (!(await isThere())) {
		await delay(PAUSE_MS);
	}

	return performance.now() - since;
};

/**
 * How long after a page was answered others than its process know of its click: until the `/match` of another one takes
 * the page's token, and until it is in the count of the month, which every process reads from the database.
 */
export const visible: Measure = {
	name: 'visible',
	measure: async ({installation: open, quick}) => {
		const clicks = quick ? 30 : 300;
		const installation = await open({links: LINKS});
		const {client} = installation;
		const [one, other] = [await installation.start(), await installation.start()];
		for (const server of [one, other]) {
			await warm(installation, server, LINKS);
		}

		const counted = async (): Promise<number> => {
			const {rows} = await client.query('SELECT coalesce(sum(clicks), 0) AS clicks FROM click_counts');
			return Number(rows[0].clicks);
		};
		let asked = 0;
		const took: {match: number[]; count: number[]} = {match: [], count: []};
		for (let n = 0; n < clicks; n += 1) {
			const isMatch = n % 2 === 0;
			const before = isMatch ? 0 : await counted();
			const address = {'X-Forwarded-For': addressOf(n)};
			const page = await send(one.url.href, 'GET', pathOf(installation, 1 + (n % LINKS)), {
				...address,
				'User-Agent': IPHONE,
				'Accept-Language': 'en-US,en;q=0.9',
			});
			const since = performance.now();
			installation.expect(1);
			const clipboardToken = /opl_[A-Za-z0-9]{32}/.exec(page.text)?.[0];
			const question = JSON.stringify({clipboardToken});
			if (isMatch) {
				const ask = async () => {
					// Each time from another address, of which none may ask so often, and as another device.
					asked += 1;
					const headers = {
						'X-Forwarded-For': addressOf(1_000_000 + asked),
						'Content-Type': 'application/json',
						'Content-Length': String(Buffer.byteLength(question)),
					};
					const {body} = await send(other.url.href, 'POST', '/match', headers, question);
					return body.matched;
				};
				took.match.push(await until(since, ask));
			} else {
				took.count.push(await until(since, async () => (await counted()) > before));
			}
		}

		const failures = await installation.failures();
		await installation.close();
		return (['match', 'count'] as const).map((which) => {
			const sorted = Float64Array.from(took[which]).sort();
			const p99 = quantile(sorted, 0.99);
			return figure({
				name: `until another process ${which === 'match' ? 'matches' : 'counts'} a click, p99`,
				value: p99,
				low: p99,
				high: p99,
				unit: 'ms',
				bar: {atMost: 100},
				notes: [`p50 ${quantile(sorted, 0.5).toFixed(1)} ms, of ${sorted.length} clicks`],
				failures: which === 'match' ? failures : [],
			});
		});
	},
};
