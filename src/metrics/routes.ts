import {requireInternal} from '../auth/internal.ts';
import {reply, route} from '../http/route.ts';
import {exposition} from './instruments.ts';
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
		host: 'any',
		handler: async ({services, request}) => {
			requireInternal(services, request);
			const {figuresOfAll} = services;
			const figures =
				figuresOfAll === null ? [...scrapeFigures(services), ...workerFigures(1, 1)] : await figuresOfAll();
			return reply({
				headers: {'Content-Type': 'text/plain; version=0.0.4; charset=utf-8', 'Cache-Control': 'no-store'},
				body: exposition([...figures, ...(await refusalFigures(services))]),
			});
		},
	}),
];
