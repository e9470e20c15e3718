import type {AutomaticDelivery} from './automatic-delivery.ts';
import {developmentToken, organizationOf} from './development-token.ts';
import {findUserByEmail} from './directory.ts';
import type {HttpRoute} from './http-server.ts';
import type {IdentityProvider} from './identity-provider.ts';
import {emailAddress, integer, readBody, requiredText, text} from './parameters.ts';
import {invitationNow} from './present.ts';
import {bodyInvalid, notFound} from './provider-errors.ts';

const faultFields = [
	'times',
	'method',
	'path',
	'status',
	'code',
	'message',
	'retryAfter',
	'rawBody',
	'delay',
	'hang',
	'drop',
	'afterwards',
];
const maxCalls = 100;
const settleSeconds = 3;

/** The variables as lines for a shell. */
export const environmentLines = ({env}: IdentityProvider): string =>
	Object.entries(env)
		.map(([name, value]) => `export ${name}='${value}'\n`)
		.join('');

/** The available actions, as command lines. */
export const helpText = (idp: IdentityProvider, service: string): string => {
	const here = idp.url.replace('127.0.0.1', 'localhost');
	return `An identity provider for development, at ${here}. Webhooks go to ${service}.

Start the service with it:
  eval "$(curl -s ${here}/env)" && npm start

A session token, for an hour (60 seconds without ttl), of a role in Acme: owner,
admin, developer, analyst or viewer:
  TOKEN=$(curl -s '${here}/dev/token?role=owner&ttl=3600')
of somebody by address, who signs up if it is new:
  TOKEN=$(curl -s '${here}/dev/token?user=mona@acme.test&ttl=3600')
of the operator:
  TOKEN=$(curl -s '${here}/dev/token?org=ops&ttl=3600')
and what it is for:
  curl -H "Authorization: Bearer $TOKEN" \\
    ${new URL('/portal/onboarding/state', service)}

Follow the link in the mail of an invitation:
  curl -X POST ${here}/dev/invitations/ana@acme.test/accept
Make somebody a member:
  curl -d '{"organization":"Acme","user":"mona@acme.test","role":"viewer"}' \\
    ${here}/dev/members
What it knows, what the service asked, what was delivered and what waits:
  curl ${here}/dev/state
  curl ${here}/dev/calls
  curl ${here}/dev/webhooks
Let webhooks wait, until /release; /dev/webhooks/ID/redeliver sends one again:
  curl -X POST ${here}/dev/webhooks/hold
Fail three times; instead of status: hang, drop, delay (ms), afterwards:
  curl -d '{"path":"/organizations","status":429,"retryAfter":2,"times":3}' \\
    ${here}/dev/faults
  curl -X DELETE ${here}/dev/faults
Sign with a new key:
  curl -X POST ${here}/dev/keys/rotate
`;
};

const peopleRoutes = (idp: IdentityProvider): HttpRoute[] => {
	const {directory} = idp;
	return [
		{
			method: 'GET',
			path: '/dev/state',
			handle: () => ({
				organizations: [...directory.organizations.values()],
				users: [...directory.users.values()],
				memberships: [...directory.memberships.values()],
				invitations: [...directory.invitations.values()].map((each) => invitationNow(directory, each)),
			}),
		},
		{
			method: 'POST',
			path: '/dev/members',
			handle: ({body: sent}) => {
				const body = readBody(sent, ['organization', 'user', 'role']);
				const email = requiredText(body, 'user');
				const role = text(body, 'role');
				const user = directory.users.get(email) ?? findUserByEmail(directory, email);
				return idp.member({
					organization: organizationOf(idp, requiredText(body, 'organization')) ?? '',
					user: user ?? idp.user({email: emailAddress(body, 'user')}),
					...(role === undefined ? {} : {role}),
				});
			},
		},
		{
			method: 'POST',
			path: '/dev/invitations/:invitation/accept',
			handle: ({params: {invitation: asked}}) => {
				const found = [...directory.invitations.values()].findLast(
					(each) =>
						each.id === asked || (each.email_address === asked && invitationNow(directory, each).status === 'pending'),
				);
				if (found === undefined) {
					throw notFound('Organization invitation');
				}

				return idp.accept(found);
			},
		},
	];
};

const webhookRoutes = (delivery: AutomaticDelivery): HttpRoute[] => {
	const report = () => ({attempts: delivery.attempts, waiting: delivery.waiting().map(({id, type}) => ({id, type}))});
	return [
		{method: 'GET', path: '/dev/webhooks', handle: report},
		{
			method: 'POST',
			path: '/dev/webhooks/hold',
			handle: () => {
				delivery.hold();
				return report();
			},
		},
		{
			method: 'POST',
			path: '/dev/webhooks/release',
			handle: async () => {
				delivery.release();
				await delivery.settle(settleSeconds);
				return report();
			},
		},
		{
			method: 'POST',
			path: '/dev/webhooks/:id/redeliver',
			handle: async ({params}) => {
				const event = delivery.sent.get(params.id ?? '');
				if (event === undefined) {
					throw notFound('Event');
				}

				delivery.push(event);
				await delivery.settle(settleSeconds);
				return report();
			},
		},
	];
};

const faultRoutes = (idp: IdentityProvider): HttpRoute[] => [
	{
		method: 'POST',
		path: '/dev/faults',
		handle: ({body: sent}) => {
			const body = readBody(sent, faultFields);
			if (Object.keys(body).length === 0) {
				throw bodyInvalid();
			}

			integer(body, 'times', 1, Number.MAX_SAFE_INTEGER);
			idp.fail(body);
			return body;
		},
	},
	{
		method: 'DELETE',
		path: '/dev/faults',
		handle: () => {
			idp.clearFaults();
			return {};
		},
	},
	{
		method: 'POST',
		path: '/dev/keys/rotate',
		handle: async ({body: sent}) => {
			await idp.rotateKeys({keepOld: readBody(sent, ['keepOld']).keepOld !== false});
			return {};
		},
	},
	{
		method: 'GET',
		path: '/dev/calls',
		handle: () =>
			idp.calls
				.filter(({path}) => path.startsWith('/v1/') || path.startsWith('/.well-known/'))
				.slice(-maxCalls)
				.map(({method, path, query, body, status}) => ({method, path, query: query.toString(), body, status})),
	},
];

/** The provider's paths for a person; no credential is required. */
export const developmentRoutes = (idp: IdentityProvider, delivery: AutomaticDelivery, service: string): HttpRoute[] => [
	{method: 'GET', path: '/', handle: () => ({plainText: helpText(idp, service)})},
	{method: 'GET', path: '/env', handle: () => ({plainText: environmentLines(idp)})},
	{
		method: 'GET',
		path: '/dev/token',
		handle: async ({query}) => {
			const token = await developmentToken(idp, query);
			// A new user's webhook is at the service before the token is.
			await delivery.settle(settleSeconds);
			return {plainText: `${token}\n`};
		},
	},
	...peopleRoutes(idp),
	...webhookRoutes(delivery),
	...faultRoutes(idp),
];
