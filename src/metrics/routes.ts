import {requireInternal} from '../auth/internal.ts';
import {reply, route} from '../http/route.ts';
import {cacheMetrics, journalMetrics} from './part-metrics.ts';
import {poolMetrics, processMetrics} from './process-metrics.ts';

export const metricsRoutes = [
	route({
		method: 'GET',
		path: '/metrics',
		summary: 'Metrics in the text format of Prometheus',
		description: 'Answers a peer that is loopback or a trusted proxy and forwards for nobody, or the admin token.',
		answer: {media: ['text/plain'], about: 'Version 0.0.4 of the format.'},
		credential: 'none',
		host: 'any',
		handler: ({services, request}) => {
			requireInternal(services, request);
			const {delay} = services.eventLoop;
			const body = services.metrics.text([
				...cacheMetrics(services.linkCache),
				...journalMetrics(services.clickJournal),
				...poolMetrics(services.db),
				...processMetrics(delay),
			]);
			delay.reset();
			return reply({
				headers: {'Content-Type': 'text/plain; version=0.0.4; charset=utf-8', 'Cache-Control': 'no-store'},
				body,
			});
		},
	}),
];
