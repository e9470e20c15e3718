import {writeFile} from 'node:fs/promises';
import path from 'node:path';
import {send} from '../../test/helpers/callers.ts';
import {figure} from './figure.ts';
import {ADMIN_TOKEN, type Sample, type Server, visits, warm} from './installation.ts';
import type {Measure} from './stage.ts';
import {inTurns, median, quantile, ratioOf} from './statistics.ts';

const HOT_LINKS = 1000;
const LINKS = 300_000;
const BAR_LINKS = 1_000_000;
/** A third of the pages that one core answers here. */
const RATE = 1000;
const CONNECTIONS = 64;

const metricOf = async ({url}: Server, name: string): Promise<number> => {
	const {text} = await send(url.href, 'GET', '/metrics', {Authorization: `Bearer ${ADMIN_TOKEN}`});
	return Number(
		text
			.split('\n')
			.find((line) => line.startsWith(name))
			?.split(' ')[1],
	);
};

const untilMetric = async (server: Server, name: string, value: number): Promise<void> => {
	while ((await metricOf(server, name)) !== value) {
		await new Promise((resolve) => setTimeout(resolve, 100));
	}
};

/** Pages beside the check of all stored links that follows each change of a list, and how long that takes. */
export const linkCheck: Measure = {
	name: 'link-check',
	measure: async ({installation: open, folder, quick, rounds, seconds}) => {
		const links = quick ? LINKS / 10 : LINKS;
		const installation = await open({links});
		await installation.client.query(
			`UPDATE links SET fallback_url = 'https://shop-' || short_code || '.example/product', destinations = jsonb_build_object('ios', 'https://app-' || short_code || '.example/')`,
		);
		let listed = 1;
		const change = () =>
			writeFile(
				path.join(folder, 'checked.txt'),
				Array.from({length: listed}, (_, n) => `shop-c${links - n}.example\n`).join(''),
			);
		await change();
		const file = path.join(folder, 'checked.json');
		await writeFile(file, JSON.stringify([{name: 'List', file: 'checked.txt', format: 'hosts', action: 'block'}]));
		const server = await installation.start({LINK_POLICY_FILE: file});
		await untilMetric(server, 'oplink_links_blocked{by="list"}', listed);
		await warm(installation, server, HOT_LINKS);
		const pages = async (): Promise<Sample> => {
			const shape = {connections: CONNECTIONS, seconds, rate: RATE, request: visits(installation, HOT_LINKS)};
			const sample = await installation.measure([server], shape);
			installation.expect(sample.answered - sample.bad);
			return sample;
		};
		const took: number[] = [];
		const failures: string[] = [];
		const samples = await inTurns<Sample>(rounds, {
			alone: pages,
			beside: async () => {
				listed += 1;
				await change();
				await untilMetric(server, 'oplink_link_policy_entries{list="List"}', listed);
				const began = performance.now();
				const sample = await pages();
				await untilMetric(server, 'oplink_links_blocked{by="list"}', listed);
				took.push((performance.now() - began) / 1000);
				return sample;
			},
		});
		failures.push(...(await installation.failures()));
		await installation.close();
		const p99 = (name: string) => samples(name).map(({latencies}) => quantile(latencies, 0.99));
		return [
			figure({
				name: `p99 of pages at ${RATE}/s beside a check of all links ÷ alone`,
				...ratioOf(p99('beside'), p99('alone')),
				bar: {atMost: 1.2},
				notes: [`${median(p99('beside')).toFixed(1)} and ${median(p99('alone')).toFixed(1)} ms`],
				failures,
			}),
			figure({
				name: `seconds of a check of ${BAR_LINKS.toLocaleString('en')} links, by ${links.toLocaleString('en')} beside pages`,
				value: (median(took) * BAR_LINKS) / links,
				low: (Math.min(...took) * BAR_LINKS) / links,
				high: (Math.max(...took) * BAR_LINKS) / links,
				bar: {atMost: 60},
			}),
		];
	},
};
