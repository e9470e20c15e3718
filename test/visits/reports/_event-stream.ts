import {once} from 'node:events';
import {request as httpRequest, type IncomingMessage} from 'node:http';
import type {ExecutionContext} from 'ava';
import {linesOf} from '../../../src/cli/lines.ts';
import type {TestService} from '../../helpers/service.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests assert its shape
export type ReceivedEvent = {type: string; data: any};

/** A reader of the click stream that reads events only on request. */
export const listen = async (
	t: ExecutionContext,
	{url, adminToken}: Pick<TestService, 'url' | 'adminToken'>,
	{query = '', lastEventId}: {query?: string; lastEventId?: string} = {},
) => {
	const resumed = lastEventId === undefined ? {} : {'Last-Event-ID': lastEventId};
	const headers = {Authorization: `Bearer ${adminToken}`, ...resumed};
	const request = httpRequest(`${url}/admin/clicks/stream${query}`, {agent: false, headers}).end();
	t.teardown(() => request.destroy());
	const [response] = (await once(request, 'response')) as [IncomingMessage];
	response.on('error', () => {});
	let id = '';
	const events = (async function* (): AsyncGenerator<ReceivedEvent> {
		let type = '';
		for await (const line of linesOf(response)) {
			const [, field = '', value = ''] = /^(\w*): ?(.*)$/.exec(line) ?? [];
			if (field === 'event') {
				type = value;
			} else if (field === 'data') {
				yield {type, data: JSON.parse(value)};
			} else if (field === 'id') {
				id = value;
			}
		}
	})();
	const next = async (): Promise<ReceivedEvent> => {
		const {value, done} = await events.next();
		return done ? {type: 'end', data: null} : value;
	};
	return {
		response,
		next,
		/** The next one of a type; others are passed over. */
		nextOf: async (type: string): Promise<ReceivedEvent> => {
			for (;;) {
				const event = await next();
				if (event.type === type || event.type === 'end') {
					return event;
				}
			}
		},
		lastEventId: () => id,
		leave: () => request.destroy(),
	};
};
