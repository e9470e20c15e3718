import {AggregatorRegistry} from 'prom-client';
import {requireInternal} from '../../accounts/auth/peer-only.ts';
import {reply, route} from '../../platform/http/route.ts';
import {scrapeFigures, workerFigures} from './read-figures.ts';
import {refusalFigures} from './refusal-figures.ts';

export const metricsRoutes = [
	route({
		method: 'GET',
		path: '/metrics',
		summary: 'Metrics in the text format of Prometheus',
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
				// It puts empty lines between metrics.
				body: (await all.metrics()).replaceAll('\n\n', '\n'),
			});
		},
	}),
];
