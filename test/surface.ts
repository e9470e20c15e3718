import test from 'ava';
import {routes} from '../src/app.ts';
import {organization} from './helpers/builders.ts';
import {admin, anonymous, type Caller, withKey} from './helpers/callers.ts';
import {startService, type TestService} from './helpers/service.ts';

/** Written by hand from interface 4 and decisions 2, 10 and 11: every route there is, and who may call it. */
const specified = `
none       GET    /health/live
none       GET    /health/ready
none       GET    /internal/tls/ask
none       GET    /.well-known/apple-app-site-association
none       GET    /.well-known/assetlinks.json
none       POST   /match
serverKey  POST   /links
serverKey  GET    /links
serverKey  GET    /links/:id
serverKey  PATCH  /links/:id
serverKey  DELETE /links/:id
serverKey  GET    /links/:id/qr.svg
serverKey  GET    /links/:id/qr.png
clientKey  POST   /sdk/session
clientKey  POST   /sdk/identity
clientKey  POST   /sdk/identity/clear
clientKey  POST   /sdk/events
admin      GET    /admin/organizations
admin      POST   /admin/organizations
admin      GET    /admin/organizations/:orgId
admin      PATCH  /admin/organizations/:orgId
admin      DELETE /admin/organizations/:orgId
admin      POST   /admin/organizations/:orgId/suspend
admin      POST   /admin/organizations/:orgId/activate
admin      PUT    /admin/organizations/:orgId/plan
admin      GET    /admin/organizations/:orgId/audit-log
admin      GET    /admin/organizations/:orgId/api-keys
admin      POST   /admin/organizations/:orgId/api-keys/:tier/regenerate
admin      GET    /admin/organizations/:orgId/app-config
admin      PUT    /admin/organizations/:orgId/app-config
admin      GET    /admin/organizations/:orgId/domains
admin      POST   /admin/organizations/:orgId/domains
admin      POST   /admin/organizations/:orgId/domains/:id/verify
admin      POST   /admin/organizations/:orgId/domains/:id/approve
admin      POST   /admin/organizations/:orgId/domains/:id/reject
admin      POST   /admin/organizations/:orgId/domains/:id/default
admin      DELETE /admin/organizations/:orgId/domains/:id
admin      GET    /admin/organizations/:orgId/templates
admin      POST   /admin/organizations/:orgId/templates
admin      GET    /admin/organizations/:orgId/templates/:id
admin      PATCH  /admin/organizations/:orgId/templates/:id
admin      DELETE /admin/organizations/:orgId/templates/:id
admin      GET    /admin/organizations/:orgId/channels
admin      POST   /admin/organizations/:orgId/channels
admin      GET    /admin/organizations/:orgId/channels/:id
admin      PATCH  /admin/organizations/:orgId/channels/:id
admin      DELETE /admin/organizations/:orgId/channels/:id
admin      GET    /admin/organizations/:orgId/links
admin      POST   /admin/organizations/:orgId/links
admin      GET    /admin/organizations/:orgId/links/export
admin      POST   /admin/organizations/:orgId/links/import
admin      GET    /admin/organizations/:orgId/links/:id
admin      PATCH  /admin/organizations/:orgId/links/:id
admin      DELETE /admin/organizations/:orgId/links/:id
admin      GET    /admin/organizations/:orgId/links/:id/qr.svg
admin      GET    /admin/organizations/:orgId/links/:id/qr.png
admin      GET    /admin/organizations/:orgId/stats
admin      GET    /admin/organizations/:orgId/matches
admin      GET    /admin/organizations/:orgId/matches/:id
admin      POST   /admin/organizations/:orgId/matches/simulate
admin      GET    /admin/billing/events
admin      GET    /admin/billing/events/:id
admin      POST   /admin/billing/events/:id/replay
admin      GET    /admin/status
signature  POST   /webhooks/idp
signature  POST   /webhook/gateway-a
user       GET    /portal/onboarding/state
user       POST   /portal/onboarding/create-organization
session    POST   /portal/onboarding/select-plan
session    GET    /portal/organization
session    PATCH  /portal/organization
session    DELETE /portal/organization
session    GET    /portal/team
session    PATCH  /portal/team/:userId
session    DELETE /portal/team/:userId
session    GET    /portal/team/invitations
session    POST   /portal/team/invitations
session    DELETE /portal/team/invitations/:id
none       GET    /portal/billing/pricing
session    POST   /portal/billing/checkout-session
session    POST   /portal/billing/change-plan
session    POST   /portal/billing/cancel
session    POST   /portal/billing/resume
session    GET    /portal/billing/subscription/active
session    GET    /portal/billing/subscription
session    GET    /portal/billing/invoices
session    GET    /portal/billing/invoices/:id
session    GET    /portal/billing/payment-methods
session    POST   /portal/billing/portal-session
user       GET    /portal/onboarding/state
user       POST   /portal/onboarding/create-organization
session    POST   /portal/onboarding/select-plan
session    GET    /portal/organization
session    PATCH  /portal/organization
session    DELETE /portal/organization
session    GET    /portal/team
session    PATCH  /portal/team/:userId
session    DELETE /portal/team/:userId
session    GET    /portal/team/invitations
session    POST   /portal/team/invitations
session    DELETE /portal/team/invitations/:id
session    GET    /portal/api-keys
session    POST   /portal/api-keys/:tier/regenerate
session    GET    /portal/app-config
session    PUT    /portal/app-config
session    GET    /portal/links
session    POST   /portal/links
session    GET    /portal/links/:id
session    PATCH  /portal/links/:id
session    DELETE /portal/links/:id
session    GET    /portal/links/:id/qr.svg
session    GET    /portal/links/:id/qr.png
session    GET    /portal/links/:id/stats
session    GET    /portal/templates
session    POST   /portal/templates
session    GET    /portal/templates/:id
session    PATCH  /portal/templates/:id
session    DELETE /portal/templates/:id
session    GET    /portal/channels
session    POST   /portal/channels
session    GET    /portal/channels/:id
session    PATCH  /portal/channels/:id
session    DELETE /portal/channels/:id
session    GET    /portal/domains
session    POST   /portal/domains
session    POST   /portal/domains/:id/verify
session    POST   /portal/domains/:id/default
session    DELETE /portal/domains/:id
session    GET    /portal/dashboard
session    GET    /portal/usage
session    GET    /portal/matches
session    GET    /portal/matches/:id
session    GET    /portal/events
session    GET    /portal/devices
session    GET    /portal/audit-log
ops        POST   /portal/admin/billing/organizations/:orgId/plan
ops        GET    /dev/session
ops        POST   /dev/match
none       GET    /:orgKey/:shortCode/data
none       POST   /:orgKey/:shortCode/signals
none       GET    /:orgKey/:shortCode
none       GET    /:shortCode
`;

let service: TestService;
test.before(async () => {
	service = await startService();
});
test.after.always(() => service?.stop());

const columns = (text: string): string[] =>
	text
		.trim()
		.split('\n')
		.map((line) => line.trim().split(/\s+/).join(' '))
		.toSorted();

test('the routes of the server are those of the specification, with their credentials', (t) => {
	t.deepEqual(
		routes.map(({credential, method, path}) => `${credential} ${method} ${path}`).toSorted(),
		columns(specified),
	);
});

const example: Record<string, string> = {
	id: '5b4e1c3a-9b1f-4c53-8b0e-0a3d2b7f1c11',
	tier: 'SERVER',
	orgKey: 'AB12',
	shortCode: 'code',
};

const call = (caller: Caller, method: string, path: string) => {
	switch (method) {
		case 'GET':
			return caller.get(path);
		case 'DELETE':
			return caller.delete(path);
		case 'POST':
			return caller.post(path, {});
		case 'PUT':
			return caller.put(path, {});
		default:
			return caller.patch(path, {});
	}
};

test('every route refuses every credential but its own', async (t) => {
	const acme = await organization(service);
	const callers: Record<string, Caller> = {
		nobody: anonymous(service),
		serverKey: acme.server,
		clientKey: acme.client,
		admin: admin(service),
		unknownKey: withKey(service, `opl_api_${'x'.repeat(43)}`),
	};
	for (const {credential, method, path} of routes.filter(({credential}) => credential !== 'none')) {
		const concrete = path.replace(':orgId', acme.id).replace(/:(\w+)/g, (_, name: string) => example[name] ?? name);
		for (const [name, caller] of Object.entries(callers)) {
			const {status} = await call(caller, method, concrete);
			const isOtherTier = [name, credential].toSorted().join() === 'clientKey,serverKey';
			// A webhook has no credential but its signature, and a bad one is 400 (interface 7.4).
			const refused = credential === 'signature' ? 400 : isOtherTier ? 403 : 401;
			const message = `${name}: ${method} ${path}`;
			if (name === credential) {
				t.false([401, 403].includes(status), message);
			} else {
				t.is(status, refused, message);
			}

			// The walk must not end with the organization or its key gone.
			if (name === credential && credential === 'admin') {
				await admin(service).post(`/admin/organizations/${acme.id}/activate`);
			}
		}
	}
});
