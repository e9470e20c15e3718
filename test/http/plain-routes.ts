import test from 'ava';
import {organization} from '../helpers/builders.ts';
import {send} from '../helpers/callers.ts';
import {serviceOf} from '../helpers/service.ts';

// A path without a query bypasses Koa, and one with a query does not: the same code gives equal answers.
const service = serviceOf(test);

const post = async (path: string, headers: Record<string, string>, body: string) => {
	const answer = await send(service.url, 'POST', path, {'X-Request-Id': 'one', ...headers}, body);
	const {date: _, ...rest} = answer.headers;
	// The path is reported without its query.
	return {status: answer.status, body: answer.body, headers: rest};
};

test('an answer is the same in front of Koa and behind it, header by header', async (t) => {
	const acme = await organization(service);
	await acme.client.post('/sdk/session', {deviceId: 'device-0001'});
	const json = {'Content-Type': 'application/json'};
	const client = {...json, Authorization: `Bearer ${acme.clientKey}`};
	const event = JSON.stringify({deviceId: 'device-0001', eventName: 'bought'});
	for (const [status, path, headers, body] of [
		[200, '/sdk/events', client, event],
		[200, '/match', json, JSON.stringify({deviceId: 'device-0001'})],
		[400, '/sdk/events', client, '{'],
		[400, '/sdk/events', client, JSON.stringify({deviceId: 'short', properties: {'\0': 1}})],
		[400, '/sdk/events', client, JSON.stringify({deviceId: 'short', eventName: ''})],
		[404, '/sdk/events', client, event.replace('0001', '0002')],
		[415, '/sdk/events', {...client, 'Content-Type': 'text/csv'}, event],
		[401, '/sdk/events', json, event],
		[403, '/links', client, '{}'],
	] as const) {
		const front = await post(path, headers, body);
		t.is(front.status, status, JSON.stringify(front.body));
		t.deepEqual(front, await post(`${path}?x=1`, headers, body), `${status} ${path}`);
	}
});

test('a refusal keeps the connection if the body has arrived', async (t) => {
	const {status, headers} = await send(service.url, 'POST', '/sdk/events', {'Content-Type': 'application/json'}, '{}');
	t.is(status, 401);
	t.is(headers['connection'], 'keep-alive');
});
