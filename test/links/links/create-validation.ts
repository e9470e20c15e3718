import test from 'ava';
import {organization} from '../../helpers/builders.ts';
import {serviceOf} from '../../helpers/service.ts';

const service = serviceOf(test, {LINK_DOMAIN: 'go.example.com'});

const fieldsOf = (body: {details: Array<{field: string}>}) => body.details.map(({field}) => field).sort();

test('all invalid fields are reported together, each by its dotted path', async (t) => {
	const acme = await organization(service);
	const {status, body} = await acme.server.post('/links', {
		shortCode: 'no spaces',
		params: {a: 1},
		title: 'x'.repeat(256),
		tags: ['ok', 'x'.repeat(51)],
		channel: 'x'.repeat(51),
		utmSource: 'x'.repeat(256),
		fallbackUrl: 'javascript:alert(1)',
		og: {title: 'x'.repeat(256), imageUrl: 'https://10.0.0.1/', color: 'red'},
		expiry: '2026-02-31T00:00:00Z',
		templateId: 'x',
		domainId: 'x',
		externalId: '',
		isActive: 'true',
		deferredDeepLinking: 1,
		matchWindowHours: '24',
		colour: 'red',
	});
	t.is(status, 400);
	t.is(body.message, 'Validation failed');
	t.deepEqual(
		fieldsOf(body),
		[
			'channel',
			'colour',
			'deferredDeepLinking',
			'domainId',
			'expiry',
			'externalId',
			'fallbackUrl',
			'isActive',
			'matchWindowHours',
			'og.color',
			'og.imageUrl',
			'og.title',
			'params.a',
			'shortCode',
			'tags.1',
			'templateId',
			'title',
			'utmSource',
		].sort(),
	);
});

test('an unknown field is named, and so is a path that is missing or null', async (t) => {
	const acme = await organization(service);
	const unknown = await acme.server.post('/links', {path: '/a', colour: 'red'});
	t.deepEqual(unknown.body.details, [{message: 'colour is not allowed', field: 'colour'}]);
	const missing = await acme.server.post('/links');
	t.deepEqual(missing.body.details, [{message: 'path is required', field: 'path'}]);
	for (const field of ['path', 'shortCode']) {
		const {status, body} = await acme.server.post('/links', {path: '/a', [field]: null});
		t.is(status, 400);
		t.deepEqual(fieldsOf(body), [field]);
	}
});

const outOfBounds = {
	path: 'x'.repeat(2049),
	shortCode: 'x'.repeat(65),
	tags: Array.from({length: 21}, (_, index) => `t${index}`),
	params: Object.fromEntries(Array.from({length: 51}, (_, index) => [`k${index}`, 'v'])),
	externalId: 'x'.repeat(256),
	matchWindowHours: 721,
	fallbackUrl: `https://example.org/${'x'.repeat(2048)}`,
	title: 'a\0b',
};

for (const [field, value] of Object.entries(outOfBounds)) {
	test(`a ${field} out of its bounds is 400`, async (t) => {
		const acme = await organization(service);
		const {status, body} = await acme.server.post('/links', {path: '/a', [field]: value});
		t.is(status, 400);
		t.deepEqual(fieldsOf(body), [field]);
	});
}

test('a URL over 2048 characters once it is percent-encoded is 400: no page would show it', async (t) => {
	const acme = await organization(service);
	const url = (characters: number) => `https://example.org/${'夏'.repeat(characters)}`;
	const {status, body} = await acme.server.post('/links', {
		path: '/a',
		fallbackUrl: url(300),
		og: {imageUrl: url(300)},
	});
	t.is(status, 400);
	t.deepEqual(fieldsOf(body), ['fallbackUrl', 'og.imageUrl']);
	const {body: kept} = await acme.server.post('/links', {path: '/a', fallbackUrl: url(225)});
	t.is((await acme.server.patch(`/links/${kept.id}`, {fallbackUrl: kept.fallbackUrl})).status, 200);
});

test('params over 8192 bytes serialized are 400', async (t) => {
	const acme = await organization(service);
	const {status, body} = await acme.server.post('/links', {path: '/a', params: {a: 'x'.repeat(8192)}});
	t.is(status, 400);
	t.deepEqual(fieldsOf(body), ['params']);
});

const refusedUrls = [
	'java\tscript:alert(1)',
	' javascript:alert(1)',
	'JaVaScRiPt:alert(1)',
	'data:text/html,<script>alert(1)</script>',
	'vbscript:x',
	'blob:https://example.org/x',
	'intent://scan/#Intent;end',
	'myapp://open',
	'//evil.com',
	'/\\evil.com',
	'https://',
	'https://example.org:99999/',
	'https:evil.com',
	'https:\\\\evil.com',
	'https://good.com@evil.com',
	'http://2130706433/',
	'http://localhost/',
	'http://[::1]/',
	'https://10.1.2.3/',
	'https://go.example.com/AbCd/loop',
	'https://GO.example.com./x',
	'',
];

test('each dangerous fallbackUrl and og.imageUrl is refused, on create and on update', async (t) => {
	const acme = await organization(service);
	const {body: link} = await acme.server.post('/links', {path: '/a'});
	for (const url of refusedUrls) {
		const bodies = [{fallbackUrl: url}, {og: {imageUrl: url}}];
		for (const [index, bad] of bodies.entries()) {
			const field = index === 0 ? 'fallbackUrl' : 'og.imageUrl';
			const created = await acme.server.post('/links', {path: '/a', ...bad});
			t.is(created.status, 400, `${field} ${url}`);
			t.deepEqual(fieldsOf(created.body), [field], url);
			const updated = await acme.server.patch(`/links/${link.id}`, bad);
			t.is(updated.status, 400, `${field} ${url}`);
			t.deepEqual(fieldsOf(updated.body), [field], url);
		}
	}
});

test('a URL corrected by the parser is stored in its corrected form', async (t) => {
	const acme = await organization(service);
	const backslash = await acme.server.post('/links', {path: '/a', fallbackUrl: 'https://good.com\\@evil.com'});
	t.is(backslash.body.fallbackUrl, 'https://good.com/@evil.com');
	const quotes = await acme.server.post('/links', {path: '/a', fallbackUrl: 'https://example.com/a b"><script>'});
	t.is(quotes.body.fallbackUrl, 'https://example.com/a%20b%22%3E%3Cscript%3E');
});

test('a URL on the link domain is reported together with the other invalid fields', async (t) => {
	const {server} = await organization(service);
	const {status, body} = await server.post('/links', {path: '', fallbackUrl: 'https://GO.example.com/x'});
	t.is(status, 400);
	t.deepEqual(body.details, [
		{message: 'fallbackUrl must not be on the link domain', field: 'fallbackUrl'},
		{message: 'path must be longer than or equal to 1 characters', field: 'path'},
	]);
});
