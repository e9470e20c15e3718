import test from 'ava';
import {linkChanges, newLink} from '../../../src/links/links/link-schemas.ts';
import {checkBody} from '../../../src/platform/http/validate.ts';
import {link, organization} from '../../helpers/builders.ts';
import {admin} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';
import {badFields, faultsIn, fieldsOf} from '../_answers.ts';

const UNKNOWN = '00000000-0000-4000-8000-000000000000';

const service = serviceOf(test, {LINK_DOMAIN: 'go.example.com'});

test('a create and an update report all invalid fields together, each by its dotted path', async (t) => {
	const acme = await organization(service);
	const {id} = await link(acme);
	const invalid = {
		shortCode: 'no spaces',
		params: {a: 1},
		title: 'x'.repeat(256),
		tags: ['ok', 'x'.repeat(51)],
		channel: 'x'.repeat(51),
		utmSource: 'x'.repeat(256),
		fallbackUrl: 'https://GO.example.com/loop',
		og: {title: 'x'.repeat(256), imageUrl: 'https://go.example.com/a.png', color: 'red'},
		destinations: {ios: 'https://10.0.0.1/'},
		expiry: '2026-02-31T00:00:00Z',
		templateId: 'x',
		domainId: 'x',
		externalId: '',
		isActive: 'true',
		deferredDeepLinking: 1,
		matchWindowHours: '24',
		colour: 'red',
	};
	const fields = [
		...['channel', 'colour', 'deferredDeepLinking', 'destinations.ios', 'domainId', 'expiry', 'externalId'],
		...['fallbackUrl', 'isActive', 'matchWindowHours', 'og.color', 'og.imageUrl', 'og.title', 'params.a', 'shortCode'],
		...['tags.1', 'templateId', 'title', 'utmSource'],
	];
	for (const {status, body} of [
		await acme.server.post('/links', invalid),
		await acme.server.patch(`/links/${id}`, invalid),
	]) {
		t.like({status, ...body}, {status: 400, message: 'Validation failed'});
		t.deepEqual(fieldsOf(body), fields);
	}

	const {body} = await acme.server.post('/links');
	t.deepEqual(body.details, [{message: 'path is required', field: 'path'}]);
});

test('faults that only the database shows are named beside those of values, on every surface', async (t) => {
	const acme = await organization(service);
	const operator = admin(service);
	const {body: bare} = await acme.operator.post('/templates', {name: 'bare'});
	const {body: full} = await acme.operator.post('/templates', {name: 'full', path: '/x'});
	const {id} = await link(acme);
	const bad = {channel: 'nowhere', title: 'x'.repeat(256)};
	for (const [request, fields] of [
		[acme.server.post('/links', bad), ['channel', 'path', 'title']],
		[acme.server.post('/links', {...bad, path: '/a'}), ['channel', 'title']],
		[acme.server.post('/links', {...bad, templateId: bare.id}), ['channel', 'path', 'title']],
		[acme.server.post('/links', {...bad, templateId: full.id}), ['channel', 'title']],
		[acme.server.post('/links', {...bad, templateId: 'x'}), ['channel', 'templateId', 'title']],
		[acme.server.post('/links', {...bad, channel: 'a\u0000'}), ['channel']],
		[acme.server.post('/links', {channel: 'email', title: bad.title, path: '/a'}), ['title']],
		[acme.server.post('/links', {channel: 'nowhere'}), ['channel', 'path']],
		[acme.server.patch(`/links/${id}`, bad), ['channel', 'title']],
		[acme.operator.post('/links', bad), ['channel', 'path', 'title']],
		[acme.operator.patch(`/links/${id}`, bad), ['channel', 'title']],
		[acme.operator.post('/templates', bad), ['channel', 'name', 'title']],
		[acme.operator.patch(`/templates/${bare.id}`, bad), ['channel', 'title']],
		[operator.post(`/admin/organizations/${UNKNOWN}/links`, bad), ['path', 'title']],
	] as const) {
		const {status, body} = await request;
		t.like({status, ...body}, {status: 400, message: 'Validation failed'});
		t.deepEqual(fieldsOf(body), [...fields]);
	}

	const {body} = await acme.server.post('/links', {path: '/a', channel: 'nowhere'});
	const message = "Unknown channel 'nowhere'";
	t.like(body, {statusCode: 400, message, details: [{message, field: 'channel'}]});
});

test('a field that is unknown, null or out of its bounds is named', (t) => {
	for (const [field, value] of [
		['colour', 'red'],
		['path', null],
		['path', 'x'.repeat(2049)],
		['shortCode', null],
		['shortCode', 'x'.repeat(65)],
		['tags', Array.from({length: 21}, (_, index) => `t${index}`)],
		['params', Object.fromEntries(Array.from({length: 51}, (_, index) => [`k${index}`, 'v']))],
		['params', {a: 'x'.repeat(8192)}],
		['externalId', 'x'.repeat(256)],
		['matchWindowHours', 0],
		['matchWindowHours', 721],
		['fallbackUrl', `https://example.org/${'x'.repeat(2048)}`],
		['fallbackUrl', ''],
		['title', 'a\0b'],
	] as const) {
		t.deepEqual(badFields(newLink, {path: '/a', [field]: value}), [field], `${field} ${value}`);
	}

	t.deepEqual(badFields(linkChanges, {path: null, shortCode: null, colour: 1}), ['colour', 'path', 'shortCode']);
	t.deepEqual(faultsIn(newLink, {path: '', colour: 1, fallbackUrl: 'https://GO.example.com/x'}), [
		{message: 'fallbackUrl must not be on the link domain', field: 'fallbackUrl'},
		{message: 'path must be longer than or equal to 1 characters', field: 'path'},
		{message: 'colour is not allowed', field: 'colour'},
	]);
});

test('a URL over 2048 characters once it is percent-encoded is 400: no page would show it', (t) => {
	const url = (characters: number) => `https://example.org/${'夏'.repeat(characters)}`;
	const long = {path: '/a', fallbackUrl: url(300), og: {imageUrl: url(300)}};
	t.deepEqual(badFields(newLink, long), ['fallbackUrl', 'og.imageUrl']);
	const kept = checkBody(newLink, {path: '/a', fallbackUrl: url(225)}, {linkHosts: ['go.example.com']});
	t.deepEqual(kept.faults, []);
	t.deepEqual(badFields(linkChanges, kept.value), []);
});
