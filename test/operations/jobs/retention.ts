import test from 'ava';
import {applyRetention, daysOf, retentionRules} from '../../../src/operations/jobs/retention.ts';
import {admin} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';

const service = serviceOf(test);

test('every rule is a statement that PostgreSQL runs, and the doctor names tables whose job fails', async (t) => {
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
	const row = {kind: 'organization', provider_id: 'org_1', deleted_at: clock.now()};
	await services.db('identity_tombstones').insert(row);
	clock.advance(days * 86_400 + 1);
	t.deepEqual(await overdue(), []);
	clock.advance(86_400);
	t.like(await overdue(), [{status: 'warn', message: 'rows outlived their retention by a day in identity_tombstones'}]);
	for (const job of new Set(retentionRules.map((one) => one.job))) {
		t.true((await applyRetention(services.db, clock.now(), job)).every((count) => count >= 0));
	}

	t.deepEqual(await overdue(), []);
});
