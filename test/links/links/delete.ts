import test from 'ava';
import {link, organization} from '../../helpers/builders.ts';
import {admin} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';

const service = serviceOf(test);

test('a deleted link answers its id, and is 404 from then on', async (t) => {
	const acme = await organization(service);
	const {id, shortCode} = await link(acme);
	const {status, body} = await acme.server.delete(`/links/${id}`);
	t.is(status, 200);
	t.deepEqual(body, {id, deleted: true});
	for (const path of [`/links/${id}`, `/${acme.orgKey}/${shortCode}/data`]) {
		t.is((await acme.server.get(path)).status, 404);
	}

	t.is((await acme.server.delete(`/links/${id}`)).status, 404);
	t.is((await acme.server.patch(`/links/${id}`, {title: 'x'})).status, 404);
});

test('the short code is free again', async (t) => {
	const acme = await organization(service);
	const {id} = await link(acme, {shortCode: 'again', externalId: 'again'});
	await acme.server.delete(`/links/${id}`);
	t.not((await link(acme, {shortCode: 'again', externalId: 'again'})).id, id);
});

test('a link deleted several times at once counts down once', async (t) => {
	const acme = await organization(service);
	await link(acme);
	const {id} = await link(acme);
	const answers = await Promise.all(Array.from({length: 5}, () => acme.server.delete(`/links/${id}`)));
	t.deepEqual(answers.map(({status}) => status).sort(), [200, 404, 404, 404, 404]);
	t.deepEqual(await service.services.db('link_counts').where({organization_id: acme.id}).pluck('links'), [1]);
});

test('a delete is recorded', async (t) => {
	const acme = await organization(service);
	const {id, shortCode} = await link(acme, {title: 'Sale'});
	await acme.server.delete(`/links/${id}`);
	const {body} = await admin(service).get(`/admin/organizations/${acme.id}/audit-log`);
	t.like(
		body.data.find(({action}: {action: string}) => action === 'DELETE'),
		{
			entityType: 'Link',
			entityId: id,
			details: {shortCode, path: '/sale', title: 'Sale'},
		},
	);
});
