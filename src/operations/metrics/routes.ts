import {AggregatorRegistry} from 'prom-client';
import {route} from '../../accounts/auth/route.ts';
import {requireInternal} from '../../accounts/tokens/require-internal.ts';
import {unlessUnavailable} from '../../platform/connection-fault.ts';
import {reply} from '../../platform/http/route.ts';
import {listRefused, type RefusalCount} from '../../platform/limits/refusals.ts';
import {createSnapshot, type Figures} from '../../platform/metrics/snapshot.ts';
import {within} from '../../platform/within.ts';
import type {Services} from '../../services.ts';
import {scrapeFigures, workerFigures} from './read-figures.ts';

/** Bounds the series; the organizations with the most refusals are named. */
const MAX_COUNT = 20;

/** The other figures are answered even while the database is unavailable or hangs. */
const PATIENCE_MS = 1000;

/** Requests of organizations that limits refused in the last day, on all machines; nothing if there were none. */
const refusalFigures = async ({db, clock, refusals}: Pick<Services, 'db' | 'clock' | 'refusals'>): Promise<Figures> => {
	let refused: RefusalCount[] = [];
	const read = async () => {
		await refusals.settled();
		refused = await listRefused(db, clock.now(), MAX_COUNT);
	};
	await within(PATIENCE_MS, unlessUnavailable(read(), undefined));
	const {gauge, registry} = createSnapshot();
	if (refused.length > 0) {
		gauge(
			'max',
			'oplink_refused_requests_last_day',
			'Requests that limits of keys, or the quota appLinks, refused in the last day, of the 20 organizations and limits with the most.',
			refused.map(({orgKey, limitName, refused: value}) => [{organization: orgKey, limit: limitName}, value]),
		);
	}

	return registry.getMetricsAsJSON();
};

export const metricsRoutes = [
	route('GET', '/metrics', {
		summary: 'Get metrics in the text format of Prometheus',
		description: 'Answers only a loopback peer or a trusted proxy, whose request is not forwarded, or the admin token.',
		answer: {media: ['text/plain'], about: 'Version 0.0.4 of the format.'},
		credential: 'none',
		handler: async ({services, request}) => {
			requireInternal(services, request);
			const {figuresOfAll} = services;
			const own = () => Promise.all([scrapeFigures(services), workerFigures(1, 1)]);
			const processes = figuresOfAll === null ? await own() : [await figuresOfAll()];
			const all = AggregatorRegistry.aggregate([...processes, await refusalFigures(services)]);
			return reply({
				headers: {'Content-Type': all.contentType, 'Cache-Control': 'no-store'},
				// prom-client puts empty lines between metrics.
				body: (await all.metrics()).replaceAll('\n\n', '\n'),
			});
		},
	}),
];
