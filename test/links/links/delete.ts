import test from 'ava';
import {link, organization} from '../../helpers/builders.ts';
import {serviceOf} from '../../helpers/service.ts';
import {atOnce, recordsOf} from '../_answers.ts';

const service = serviceOf(test);

test('a deleted link answers its id, is recorded, is 404 from then on, and its names are free again', async (t) => {
	const acme = await organization(service);
	const {id, shortCode} = await link(acme, {shortCode: 'again', externalId: 'again', title: 'Sale'});
	const {status, body} = await acme.server.delete(`/links/${id}`);
	t.is(status, 200);
	t.deepEqual(body, {id, deleted: true});
	const record = (await recordsOf(acme, 'Link')).find(({action}) => action === 'DELETE');
	t.like(record, {entityId: id, details: {shortCode, path: '/sale', title: 'Sale'}});
	for (const path of [`/links/${id}`, `/${acme.orgKey}/${shortCode}/data`]) {
		t.is((await acme.server.get(path)).status, 404);
	}

	t.is((await acme.server.delete(`/links/${id}`)).status, 404);
	t.is((await acme.server.patch(`/links/${id}`, {title: 'x'})).status, 404);
	t.not((await link(acme, {shortCode: 'again', externalId: 'again'})).id, id);
});

test('a link deleted several times at once counts down once', async (t) => {
	const acme = await organization(service);
	await link(acme);
	const {id} = await link(acme);
	t.deepEqual(await atOnce(5, () => acme.server.delete(`/links/${id}`)), [200, 404, 404, 404, 404]);
	t.deepEqual(await service.services.db('link_counts').where({organization_id: acme.id}).pluck('links'), [1]);
});
