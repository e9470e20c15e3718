import test from 'ava';
import {applyRetention, daysOf, retentionRules} from '../../../src/operations/jobs/retention.ts';
import {admin} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';

const service = serviceOf(test);

test('PostgreSQL accepts every rule of retention, rows go batch by batch, and the doctor names tables with overdue rows', async (t) => {
	const {services, clock} = service;
	const overdue = async () => {
		const {body} = await admin(service).get('/admin/doctor');
		return body.findings.filter(({check}: {check: string}) => check === 'retention.overdue');
	};
	// The jobs start with the first request.
	await overdue();
	await services.background.settle();
	const rule = retentionRules.find(({table}) => table === 'identity_tombstones');
	const days = rule === undefined ? 0 : daysOf(rule);
	const ids = Array.from({length: 2500}, (_, index) => `org_${index}`);
	await services
		.db('identity_tombstones')
		.insert(ids.map((id) => ({kind: 'organization', provider_id: id, deleted_at: clock.now()})));
	clock.advance(days * 86_400 + 1);
	t.deepEqual(await overdue(), []);
	clock.advance(86_400);
	t.like(await overdue(), [{status: 'warn', message: 'rows outlived their retention by a day in identity_tombstones'}]);
	const deleted: number[] = [];
	for (const job of new Set(retentionRules.map((one) => one.job))) {
		deleted.push(...(await applyRetention(services.db, clock.now(), job)));
	}

	const found = deleted.filter((count) => count > 0);
	t.deepEqual(found, [ids.length]);

	t.deepEqual(await overdue(), []);
});
