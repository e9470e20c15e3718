import Joi from 'joi';
import {route} from '../../../accounts/auth/route.ts';
import {organizationReference, requireOrganization} from '../../../accounts/organizations/require-organization.ts';
import {reply} from '../../../platform/http/route.ts';

const streamQuery = Joi.object<{orgId?: string; of?: 'apps'}>({
	orgId: organizationReference,
	of: Joi.valid('apps').meta({
		schema: {
			description: "Requests of the organization's apps instead: `session`, `data`, `match`, `event`, `refusal`.",
		},
	}),
}).with('of', 'orgId');

const headers = {
	'Content-Type': 'text/event-stream; charset=utf-8',
	'Cache-Control': 'no-store',
	// Stops proxies from buffering events.
	'X-Accel-Buffering': 'no',
};

export const clickStreamRoutes = [
	route('GET', '/admin/clicks/stream', {
		summary: 'Follow clicks, matches and events live',
		headers: {'Last-Event-ID': 'The `id` of the last event received: later events are sent first.'},
		answer: {media: ['text/event-stream'], about: 'Server-sent events `recent`, `click`, `match`, `event` and `lost`.'},
		credential: 'admin',
		query: streamQuery,
		handler: async ({services, query: {orgId, of}, request}) => {
			const organizationId = orgId === undefined ? null : (await requireOrganization(services, orgId)).id;
			if (request.isHead) {
				return reply({headers});
			}

			// A click that was just answered must be in the last hour and not in the events that follow.
			await services.clickJournal.flushed({containing: organizationId === null ? [] : [organizationId]});
			const cursor = request.headers['last-event-id'];
			const body = await services.clickStream.listen({
				organizationId,
				isOfApps: of === 'apps',
				cursor: typeof cursor === 'string' ? cursor : null,
				connection: request.stream.socket,
			});
			return reply({headers, body});
		},
	}),
];
