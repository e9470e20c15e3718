import {randomUUID} from 'node:crypto';
import test from 'ava';
import type {OplinkFetch} from '../../src/client/oplink.ts';
import {approvedDomain, link, organization} from '../helpers/builders.ts';
import {anonymous} from '../helpers/callers.ts';
import {serviceOf} from '../helpers/service.ts';
import {oplinkOf} from './_oplink-of.ts';

const service = serviceOf(test, {PUBLIC_URL: 'https://api.oplink.test', LINK_DOMAIN: 'go.oplink.test'});

let lastHost = 0;

/** An organization with a custom domain, its client, and the addresses that the client requests. */
const withDomain = async () => {
	lastHost += 1;
	const hostname = `app${lastHost}.acme.test`;
	const acme = await organization(service);
	await approvedDomain(acme, hostname, {pathPrefixes: ['promos']});
	const requested: string[] = [];
	const fetch: OplinkFetch = async (url) => {
		const {host, pathname, search} = new URL(url);
		requested.push(url);
		const {status, text} = await anonymous(service).get(pathname + search, {Host: host});
		return {status, text: async () => text};
	};
	const {oplink} = oplinkOf(service, acme, {
		baseUrl: 'https://api.oplink.test',
		linkBaseUrl: 'https://go.oplink.test',
		linkDomains: [hostname],
		fetch,
	});
	return {...acme, hostname, oplink, requested};
};

test('every form of an address leads to its link', async (t) => {
	const {hostname, orgKey, oplink, requested, ...acme} = await withDomain();
	const {id: linkId} = await link({orgKey, ...acme}, {shortCode: 'spring', path: '/hello', params: {from: 'demo'}});
	const expected = {linkId, path: '/hello', params: {from: 'demo'}};
	for (const url of [
		`https://go.oplink.test/${orgKey}/spring`,
		`https://go.oplink.test/${orgKey}/spring/`,
		`https://${hostname}/spring`,
		`https://${hostname}/spring/#top`,
		`https://${hostname}/${orgKey}/spring`,
		`https://${hostname}/promos/spring`,
		`HTTP://${hostname.toUpperCase()}.:80/promos/${orgKey}/spring/`,
	]) {
		t.deepEqual(await oplink.resolveUrl(url), expected, url);
	}

	t.is(requested.at(-1), `https://${hostname}/promos/${orgKey}/spring/data`);
});

test('the query becomes part of the params, and no deviceId in it is taken for that of the app', async (t) => {
	const {hostname, oplink, ...acme} = await withDomain();
	await link(acme, {shortCode: 'spring', params: {from: 'demo'}});
	const [own, other] = [randomUUID(), randomUUID()];
	const query = `coupon=A+1&coupon=B&from=evil&name=%C3%A9%26&bad=%zz&device%49d=${other}&deviceId=${other}&empty`;
	const found = await oplink.resolveUrl(`https://${hostname}/spring?${query}#top`, {deviceId: own});
	t.deepEqual(found?.params, {coupon: 'A 1', from: 'demo', name: 'é&', bad: '%zz', empty: ''});
	await oplink.resolveUrl(`https://${hostname}/spring?deviceId=${other}`);
	const devices = await service.services.db('devices').where({organization_id: acme.id}).select('device_id');
	t.deepEqual(devices, [{device_id: own}]);
});

test('a backslash or a tab in an address leads nowhere, and no request is sent', async (t) => {
	const {hostname, orgKey, oplink, requested} = await withDomain();
	for (const url of [
		`https://evil.test\\@${hostname}/spring`,
		`https://go.oplink.test/${orgKey}/.\t./links`,
		`https://go.oplink.test/${orgKey}/a\\..\\b`,
	]) {
		t.is(await oplink.resolveUrl(url), null, url);
	}

	t.deepEqual(requested, []);
});
