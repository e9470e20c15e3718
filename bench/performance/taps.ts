import {send} from '../../test/helpers/callers.ts';
import {figure} from './figure.ts';
import {
	ADMIN_TOKEN,
	type Installation,
	measureBare,
	pathOf,
	type Sample,
	type Server,
	samplePage,
	startBare,
	visits,
	warm,
} from './installation.ts';
import type {Load} from './load.ts';
import {addOwnDomain, type Kind, mixedKinds, mixOf, OWN_DOMAIN, requestOf} from './mix.ts';
import {unpinned} from './processes.ts';
import {WINDOWS} from './requests.ts';
import type {Measure} from './stage.ts';
import {inTurns, median, quantile, ratioOf} from './statistics.ts';

const HOT_LINKS = 1000;
const CONNECTIONS = 64;
const MIX_RATE = 2000;

/** The visits of `../../docs/measurements.md`, by name. `errors`, `suspended`: organizations. */
const kindsOf = (installation: Installation, [errors, suspended]: [string, string]): Record<string, Kind> => {
	const shared = (n: number) => pathOf(installation, 1 + (n % HOT_LINKS));
	const page = {most: 1.3, of: 'plain page'};
	const refusal = {most: 1, of: 'plain page'};
	const {plain, withClickId, own, ownWithClickId, crawler, unknown} = mixedKinds(installation, HOT_LINKS);
	return {
		'plain page': plain,
		'page with click id': {...withClickId, bar: page},
		'own domain with orgKey': {path: shared, host: OWN_DOMAIN, bar: page},
		'own domain, bare code': {...own, bar: page},
		'own domain with click id': {...ownWithClickId, bar: page},
		'desktop page': {path: shared, agent: WINDOWS, bar: page},
		'desktop page with click id': {...withClickId, agent: WINDOWS, bar: {...page, most: 2}},
		HEAD: {method: 'HEAD', path: shared, clicks: false, bar: page},
		'preview crawler': {...crawler, bar: page},
		'unknown code': {...unknown, bar: refusal},
		'unknown code, error page': {path: (n) => `/${errors}/none${n % 1000}`, status: 404, clicks: false, bar: refusal},
		'suspended organization': {path: () => `/${suspended}/sale`, status: 410, clicks: false, bar: refusal},
		signals: {
			method: 'POST',
			path: (n) => `${shared(n)}/signals`,
			body: '{"token":"none"}',
			status: 204,
			clicks: false,
		},
		'/data': {path: (n) => `${shared(n)}/data`},
		'/data with query': {path: (n) => `${shared(n)}/data?ref=${n}`, bar: {most: 1.3, of: '/data'}},
	};
};

/** An own domain, an organization with error pages, and one that is suspended. */
const prepare = async ({client, organizations}: Installation, server: Server): Promise<[string, string]> => {
	const [own, errors, suspended] = organizations;
	if (own === undefined || errors === undefined || suspended === undefined) {
		throw new Error('taps need three organizations');
	}

	await addOwnDomain(client, own);
	await client.query('UPDATE app_configs SET error_pages = true WHERE organization_id = $1', [errors.id]);
	const admin = {Authorization: `Bearer ${ADMIN_TOKEN}`, 'Content-Type': 'application/json'};
	const links = `/admin/organizations/${suspended.id}/links`;
	await send(server.url.href, 'POST', links, admin, JSON.stringify({path: '/', shortCode: 'sale'}));
	await send(server.url.href, 'POST', `/admin/organizations/${suspended.id}/suspend`, admin);
	return [errors.orgKey, suspended.orgKey];
};

/**
 * The visits that people, mail programs and robots make: the server's own CPU of each beside that of a plain page, and a
 * mix of them beside bare node:http that answers a page's bytes. Then the first seconds of a server whose links nobody
 * has visited since.
 */
export const taps: Measure = {
	name: 'taps',
	measure: async ({installation: open, folder, postmaster, rounds, seconds, quick}) => {
		const installation = await open({links: HOT_LINKS, organizations: 3});
		const server = await installation.start();
		const kinds = kindsOf(installation, await prepare(installation, server));
		await warm(installation, server, HOT_LINKS);
		const file = await samplePage(installation, server, folder);
		const failures: string[] = [];
		const own = ({cpu, database}: Sample) => cpu - database;

		const run = async (
			on: Server,
			pick: (n: number) => Kind,
			given: Omit<Load, 'request' | 'isGood' | 'onAnswer'>,
		): Promise<Sample> => {
			let clicks = 0;
			const sample = await installation.measure([on], {
				...given,
				request: (url) => {
					const made = new Map<Kind, (n: number) => string>();
					return (n) => {
						const kind = pick(n);
						const request = made.get(kind) ?? requestOf(kind)(url);
						made.set(kind, request);
						return request(n);
					};
				},
				isGood: (n, status) => {
					const {status: expected = 200, clicks: isClick = true} = pick(n);
					clicks += isClick && status === expected ? 1 : 0;
					return status === expected;
				},
			});
			installation.expect(clicks);
			if (sample.bad > 0) {
				failures.push(`${sample.bad} of ${sample.answered} answers had another status`);
			}

			return sample;
		};

		const shape = {connections: CONNECTIONS, seconds: Math.max(1, seconds * 0.75)};
		const mixed = mixOf(installation, HOT_LINKS);
		const contestants = Object.entries(kinds).map(
			([name, kind]) => [name, () => run(server, () => kind, shape)] as const,
		);
		const samples = await inTurns<Sample>(quick ? 1 : Math.min(rounds, 3), {
			...Object.fromEntries(contestants),
			mix: () => run(server, mixed, shape),
		});
		const cpu = (name: string) => samples(name).map(own);
		const figures = Object.entries(kinds).map(([name, {bar}]) => {
			const note = `${median(cpu(name)).toFixed(1)} µs, ${Math.round(median(samples(name).map(({rate}) => rate)))}/s, p99 ${median(samples(name).map(({latencies}) => quantile(latencies, 0.99))).toFixed(1)} ms`;
			const {of = 'plain page', most} = bar ?? {};
			return figure({
				name: `${name} ÷ ${of}, CPU of the server`,
				...ratioOf(cpu(name), cpu(of)),
				...(most === undefined ? {} : {bar: {atMost: most}}),
				notes: [note],
			});
		});
		const rates = (name: string) => samples(name).map(({rate}) => rate);
		figures.push(
			figure({
				name: 'mix ÷ plain page, requests/s',
				...ratioOf(rates('mix'), rates('plain page')),
				bar: {atLeast: 0.8},
			}),
		);

		// Started anew: nobody has visited a link of this process yet.
		await server.stop();
		const first: number[] = [];
		const warmed: number[] = [];
		for (let round = 0; round < (quick ? 1 : 3); round += 1) {
			const fresh = await installation.start();
			for (const into of [first, warmed]) {
				const sample = await installation.measure([fresh], {
					connections: CONNECTIONS,
					seconds: 5,
					request: visits(installation, HOT_LINKS),
				});
				installation.expect(sample.answered - sample.bad);
				into.push(sample.rate);
			}

			await fresh.stop();
		}

		figures.push(
			figure({
				name: `requests/s of the first 5 s after a start, ${HOT_LINKS} links ÷ warm`,
				...ratioOf(first, warmed),
				bar: {atLeast: 0.6},
				notes: [`${Math.round(median(first))}/s and ${Math.round(median(warmed))}/s`],
			}),
		);

		await unpinned(postmaster, async () => {
			const [again, http] = [await installation.start(), await startBare('http', file)];
			await warm(installation, again, HOT_LINKS);
			const steady = {connections: 128, seconds, rate: MIX_RATE};
			const turns = await inTurns<Sample>(quick ? 1 : Math.min(rounds, 3), {
				'node:http': () => measureBare(http, steady),
				mix: () => run(again, mixed, steady),
			});
			const p99 = (name: string) => turns(name).map(({latencies}) => quantile(latencies, 0.99));
			figures.push(
				figure({
					name: `p99 of the mix at ${MIX_RATE}/s ÷ node:http`,
					...ratioOf(p99('mix'), p99('node:http')),
					bar: {atMost: 3},
					notes: [`${median(p99('mix')).toFixed(2)} and ${median(p99('node:http')).toFixed(2)} ms`],
				}),
			);
			await Promise.all([again.stop(), http.stop()]);
		});
		failures.push(...(await installation.failures()));
		await installation.close();
		const [head, ...rest] = figures;
		return head === undefined ? [] : [{...head, failures}, ...rest];
	},
};
