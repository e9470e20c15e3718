import {link, organization} from '../../helpers/builders.ts';
import {ownService} from '../_own.ts';
import {its, run} from '../clicks/_clickhouse.ts';
import {network, visit} from '../matches/_phones.ts';
import {linesOf} from './_lines.ts';

run('exports of clicks in ClickHouse hold each once, the first run and those that go on from it', async (t) => {
	const service = await ownService(t, {CLICKS_URL: await its.server.database()});
	const [acme, other] = [await organization(service), await organization(service)];
	const [made, foreign] = [await link(acme, {channel: 'email'}), await link(other)];
	const host = network();
	const seen: unknown[] = [];
	let cursor = '';
	let visits = 0;
	for (let round = 0; round < 6; round += 1) {
		for (let index = 0; index < 5; index += 1) {
			visits += 1;
			await visit(service, made, host(visits));
		}

		await visit(service, foreign, host(200 + round));
		const {headers, text} = await acme.operator.get(`/export/clicks${cursor === '' ? '' : `?cursor=${cursor}`}`);
		const lines = linesOf(text);
		t.is(lines.length, 6);
		seen.push(...lines.slice(0, -1).map(({id}) => id));
		cursor = String(headers['x-cursor']);
	}

	t.is(new Set(seen).size, visits);
	const whole = await acme.operator.get('/export/clicks');
	t.is(linesOf(whole.text).length, visits + 1);
	t.like(linesOf(whole.text)[0], {linkId: made.id, channel: 'email', platform: 'ios', at: '2026-03-10T12:00:00.000Z'});
	t.is((await acme.operator.get('/export/clicks?format=csv')).text.trim().split('\n').length, visits + 1);
	t.is(linesOf((await acme.operator.get('/export/clicks?since=2026-03-10T12:00:01Z')).text).length, 1);
	service.clock.advance(31 * 86_400);
	const old = await acme.operator.get(`/export/clicks?cursor=${cursor}`);
	const message = 'cursor is too old; begin again with since';
	t.like(old, {status: 400, body: {details: {0: {message}}}});
});
