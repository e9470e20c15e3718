import {randomBytes} from 'node:crypto';
import {Webhook} from 'svix';
import {type Clock, createClock} from '../../../src/platform/clock.ts';
import type {Call, FaultInput} from '../shared/faults.ts';
import {type Reply, type Routes, startServer} from '../shared/http-server.ts';
import {findRoute} from '../shared/routes.ts';
import {
	createWebhookQueue,
	type Delivery,
	type Destination,
	type SignOptions,
	type WebhookEvent,
} from '../shared/webhook-queue.ts';
import {backendApi} from './backend-api.ts';
import {
	createDirectory,
	type Directory,
	defaultSettings,
	findMembership,
	isObject,
	type Settings,
} from './directory.ts';
import {acceptInvitation, createInvitation, type InvitationInput, revokeInvitation} from './invitations.ts';
import {createMembership, deleteMembership, type MembershipInput, updateMembershipMetadata} from './memberships.ts';
import {createOrganization, deleteOrganization, type OrganizationInput, updateOrganization} from './organizations.ts';
import {
	bodyInvalid,
	errorBody,
	missingKey,
	notFound,
	ProviderError,
	unsupportedContentType,
	wrongKey,
} from './provider-errors.ts';
import {idOf, type Metadata, newId, type Ref} from './records.ts';
import {createSigningKeys} from './signing-keys.ts';
import {mintToken, type TokenInput} from './tokens.ts';
import {createUser, type UserInput, updateUser} from './users.ts';

/** Events and their signed deliveries. */
const createWebhooks = ({clock, secret, instanceId}: {clock: Clock; secret: string; instanceId: string}) => {
	/** The headers of one delivery. */
	const sign = ({id, body}: Pick<WebhookEvent, 'id' | 'body'>, options: SignOptions = {}) => {
		const at = options.at ?? clock.now();
		return {
			'svix-id': id,
			'svix-timestamp': String(Math.floor(at.getTime() / 1000)),
			'svix-signature': new Webhook(options.secret ?? secret).sign(id, at, body),
		};
	};
	const queue = createWebhookQueue('/webhooks/idp', (event: WebhookEvent, options) => ({
		headers: {'user-agent': 'Svix-Webhooks/1.0', ...sign(event, options)},
	}));
	return {
		...queue,
		sign,
		/** Sends these events one after another; none given: all that are collected now. */
		deliver: (destination: Destination, ...given: WebhookEvent[]) =>
			queue.deliver(destination, ...(given.length === 0 ? queue.events : given)),
		/** An event of the caller's making, which happened to nobody; it is delivered by passing it on. */
		event: (type: string, data: unknown): WebhookEvent => ({
			id: newId('msg'),
			type,
			body: JSON.stringify({
				data,
				event_attributes: {http_request: {client_ip: '203.0.113.7', user_agent: 'node'}},
				instance_id: instanceId,
				object: 'event',
				timestamp: clock.now().getTime(),
				type,
			}),
		}),
	};
};

const requireKey = ({headers}: Call, secretKey: string): void => {
	const {authorization} = headers;
	if (typeof authorization !== 'string') {
		throw missingKey();
	}

	if (authorization !== `Bearer ${secretKey}`) {
		throw wrongKey();
	}
};

/** The parsed body, recorded with the call as it came; no body counts as an empty one. */
const readJson = (call: Call): Record<string, unknown> => {
	if (typeof call.body !== 'string') {
		return {};
	}

	if (!String(call.headers['content-type']).startsWith('application/json')) {
		throw unsupportedContentType();
	}

	try {
		call.body = JSON.parse(call.body);
	} catch {
		throw bodyInvalid();
	}

	if (!isObject(call.body)) {
		throw bodyInvalid();
	}

	return call.body;
};

const refusalOf = (error: ProviderError): Reply => ({status: error.status, json: errorBody(error)});

/** The answer of a fault. */
const failureReply = ({
	status = 500,
	code = status === 429 ? 'too_many_requests' : 'internal_error',
	message = 'Oops, an unexpected error occurred',
}: FaultInput): Reply => refusalOf(new ProviderError(status, code, message));

/** The answer of a path; those below `/v1/` require the secret key, the others are open. */
const answerApi = (routes: Routes, secretKey: string, call: Call): Reply => {
	try {
		if (call.path.startsWith('/v1/')) {
			requireKey(call, secretKey);
		}

		const body = readJson(call);
		const route = findRoute(routes, call);
		if (route === null) {
			throw notFound(`${call.method} ${call.path}`);
		}

		return {status: 200, json: route.handle({params: route.params, query: call.query, body})};
	} catch (error) {
		return error instanceof ProviderError ? refusalOf(error) : failureReply({message: String(error)});
	}
};

export type IdentityProviderOptions = {
	/** By default the machine's; tests pass the one of their service. */
	clock?: Clock;
	/** 0 picks a free one. */
	port?: number;
	secretKey?: string;
	webhookSecret?: string;
	opsOrganizationId?: string;
	settings?: Partial<Settings>;
};

export type IdentityProvider = Awaited<ReturnType<typeof startIdentityProvider>>;

export type {Delivery};

/** Actions of people at the provider. Each creates events, which wait for delivery. */
const peopleOf = (directory: Directory) => ({
	user: (input?: UserInput) => createUser(directory, input),
	updateUser: (user: Ref, input: Omit<UserInput, 'id'>) => updateUser(directory, user, input),
	organization: (input?: OrganizationInput) => createOrganization(directory, input),
	updateOrganization: (organization: Ref, input: Omit<OrganizationInput, 'id' | 'createdBy'>) =>
		updateOrganization(directory, organization, input),
	deleteOrganization: (organization: Ref) => deleteOrganization(directory, organization),
	member: (input: MembershipInput) => createMembership(directory, input),
	/** Merges into the membership's public metadata, which contains the application's role. */
	updateMember: (organization: Ref, user: Ref, publicMetadata: Metadata) =>
		updateMembershipMetadata(directory, findMembership(directory, organization, user), {publicMetadata}),
	removeMember: (organization: Ref, user: Ref) =>
		deleteMembership(directory, findMembership(directory, organization, user)),
	invitation: (input: InvitationInput) => createInvitation(directory, input),
	accept: (invitation: Ref, user?: Ref) => acceptInvitation(directory, invitation, user),
	revoke: (invitation: Ref) => revokeInvitation(directory, invitation),
});

/**
 * An identity provider on loopback with the wire format of contract/identity 2 and contract/identity 6. It keeps its
 * state and provides session tokens and their keys, the backend API, signed webhooks, and faults on demand.
 */
export const startIdentityProvider = async (options: IdentityProviderOptions = {}) => {
	const {
		clock = createClock(0),
		port = 0,
		secretKey = `sk_test_${randomBytes(20).toString('hex')}`,
		webhookSecret = `whsec_${randomBytes(24).toString('base64')}`,
	} = options;
	const webhooks = createWebhooks({clock, secret: webhookSecret, instanceId: newId('ins')});
	const directory = createDirectory({
		clock,
		settings: {...defaultSettings, ...options.settings},
		emit: (type, data) => webhooks.add(webhooks.event(type, data)),
	});
	const opsOrganization = createOrganization(directory, {
		id: options.opsOrganizationId ?? newId('org'),
		name: 'Oplink operations',
	});
	webhooks.events.length = 0;

	const keys = await createSigningKeys();
	const routes: Routes = {
		'GET /.well-known/jwks.json': keys.keySet,
		'GET /v1/jwks': keys.keySet,
		...backendApi(directory),
	};
	const server = await startServer({answer: (call) => answerApi(routes, secretKey, call), failure: failureReply, port});
	const {url} = server;

	return {
		...peopleOf(directory),
		...webhooks,
		...server,
		/** The variables that make a service trust it. */
		env: {
			IDP_ISSUER: url,
			IDP_JWKS_URL: `${url}/.well-known/jwks.json`,
			IDP_API_URL: `${url}/v1`,
			IDP_API_KEY: secretKey,
			IDP_WEBHOOK_SECRET: webhookSecret,
			OPS_ORG_ID: opsOrganization.id,
		},
		/** OPS_ORG_ID: an organization like the others, without members. Its event is not among `events`. */
		opsOrganization,
		token: (input: TokenInput): Promise<string> => mintToken({directory, keys, issuer: url}, input),
		rotateKeys: keys.rotate,
		/** The collected events that name any of these, oldest first. */
		eventsAbout: (...refs: Ref[]) => webhooks.eventsAbout(...refs.map(idOf)),
		/** Its state, read-only. */
		directory,
	};
};
