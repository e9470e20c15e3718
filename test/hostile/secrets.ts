import {randomBytes} from 'node:crypto';
import test from 'ava';
import {startIdentityProvider} from '../fakes/identity-provider/identity-provider.ts';
import {link, organization} from '../helpers/builders.ts';
import {admin, anonymous, withKey} from '../helpers/callers.ts';
import {createFakeClock, startService} from '../helpers/service.ts';

test('no log line contains a secret, at the finest level, also for failed requests', async (t) => {
	const lines: string[] = [];
	const clock = createFakeClock();
	const provider = await startIdentityProvider({clock});
	const secrets = {
		stripe: `sk_test_${randomBytes(12).toString('hex')}`,
		stripeWebhook: `whsec_${randomBytes(24).toString('base64')}`,
		keys: randomBytes(24).toString('hex'),
	};
	const env = {
		...provider.env,
		LOG_LEVEL: 'trace',
		STRIPE_SECRET_KEY: secrets.stripe,
		STRIPE_WEBHOOK_SECRET: secrets.stripeWebhook,
		STRIPE_API_URL: 'http://127.0.0.1:9',
		OPLINK_KEY_SECRET: secrets.keys,
	};
	const service = await startService(env, clock, undefined, {write: (line) => void lines.push(line)});
	t.teardown(async () => {
		await service.stop();
		await provider.stop();
	});

	const acme = await organization(service);
	const made = await link(acme);
	const page = await anonymous(service).get(`/${acme.orgKey}/${made.shortCode}`);
	const [token = ''] = /opl_[A-Za-z0-9]{32}/.exec(page.text) ?? [];
	t.is(token.length, 36);
	const bearer = await provider.token({user: provider.user(), organization: null});
	const signed = {Authorization: `Bearer ${bearer}`};
	await anonymous(service).get('/portal/onboarding/state', signed);
	await anonymous(service).post('/match', {clipboardToken: token, deviceId: 'device-of-secrets'});
	await anonymous(service).post('/match', `{"clipboardToken":"${token}"`);
	await anonymous(service).get(`/links?token=${token}`, {Authorization: `Bearer ${acme.serverKey}x`});
	const badlySigned = {'svix-id': 'x', 'svix-signature': 'v1,x', 'svix-timestamp': '1'};
	await anonymous(service).post('/webhooks/idp', {a: 1}, badlySigned);
	await anonymous(service).post('/webhook/gateway-a', {a: 1}, {'Stripe-Signature': 't=1,v1=x'});
	await acme.operator.post('/api-keys/CLIENT/regenerate');
	await admin(service).get('/admin/doctor');
	// Internal errors are logged with their cause, which may include a statement and its values.
	await service.services.db.raw('ALTER TABLE links RENAME TO links_that_were');
	t.is((await withKey(service, acme.serverKey).post('/links', {path: '/x', params: {token}})).status, 500);
	await service.services.db.raw('ALTER TABLE api_keys RENAME TO keys_that_were');
	t.is((await withKey(service, acme.serverKey).get('/links')).status, 500);
	await service.services.db.raw('ALTER TABLE match_clicks RENAME TO clicks_that_were');
	const {status, body} = await anonymous(service).post('/match', {clipboardToken: token});
	t.is(status, 500);
	t.is(body.message, 'Internal server error');
	t.notRegex(JSON.stringify(body), /match_clicks|relation/);

	const all = lines.join('');
	t.regex(all, /request failed/);
	t.regex(all, /"msg":"request"/);
	const known: Record<string, string> = {
		...secrets,
		adminToken: service.adminToken,
		serverKey: acme.serverKey,
		clientKey: acme.clientKey,
		session: bearer.split('.')[2] ?? '',
		webhook: provider.env['IDP_WEBHOOK_SECRET'] ?? '',
		provider: provider.env['IDP_API_KEY'] ?? '',
		token,
	};
	const names = (isTrue: (secret: string) => boolean) =>
		Object.entries(known).flatMap(([name, secret]) => (isTrue(secret) ? [name] : []));
	const found = names((secret) => secret === '');
	t.deepEqual(found, []);
	const seen = names((secret) => all.includes(secret));
	t.deepEqual(seen, []);
});
