import {randomBytes} from 'node:crypto';
import {type Clock, createClock} from '../../../src/platform/clock.ts';
import {backendApi} from './backend-api.ts';
import {createDirectory, type Directory, defaultSettings, findMembership, type Settings} from './directory.ts';
import {type Call, createFaults, type Fault, type FaultInput} from './faults.ts';
import {type HttpRoute, startHttpServer} from './http-server.ts';
import {acceptInvitation, createInvitation, type InvitationInput, revokeInvitation} from './invitations.ts';
import {createMembership, deleteMembership, type MembershipInput, updateMembershipMetadata} from './memberships.ts';
import {createOrganization, deleteOrganization, type OrganizationInput, updateOrganization} from './organizations.ts';
import {
	type InvitationRecord,
	idOf,
	type MembershipRecord,
	type Metadata,
	newId,
	type OrganizationRecord,
	type Ref,
	type UserRecord,
} from './records.ts';
import {createSigningKeys} from './signing-keys.ts';
import {mintToken, type TokenInput} from './tokens.ts';
import {createUser, deleteUser, type UserInput, updateUser} from './users.ts';
import {createWebhooks, type Delivery, type Webhooks} from './webhooks.ts';

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

/** Actions of people at the provider. Each creates events, which wait for delivery. */
type People = {
	user(input?: UserInput): UserRecord;
	updateUser(user: Ref, input: Omit<UserInput, 'id'>): UserRecord;
	deleteUser(user: Ref): void;
	organization(input?: OrganizationInput): OrganizationRecord;
	updateOrganization(organization: Ref, input: Omit<OrganizationInput, 'id' | 'createdBy'>): OrganizationRecord;
	deleteOrganization(organization: Ref): void;
	member(input: MembershipInput): MembershipRecord;
	/** Merges into the membership's public metadata, which contains the application's role. */
	updateMember(organization: Ref, user: Ref, publicMetadata: Metadata): MembershipRecord;
	removeMember(organization: Ref, user: Ref): MembershipRecord;
	invitation(input: InvitationInput): InvitationRecord;
	accept(invitation: Ref, user?: Ref): MembershipRecord;
	revoke(invitation: Ref): InvitationRecord;
};

export type IdentityProvider = People &
	Pick<Webhooks, 'events' | 'event' | 'sign' | 'send' | 'deliver' | 'deliverTogether'> & {
		url: string;
		/** The variables that make a service trust it. */
		env: Record<
			'IDP_ISSUER' | 'IDP_JWKS_URL' | 'IDP_API_URL' | 'IDP_API_KEY' | 'IDP_WEBHOOK_SECRET' | 'OPS_ORG_ID',
			string
		>;
		/** OPS_ORG_ID: an organization like the others, without members. Its event is not among `events`. */
		opsOrganization: OrganizationRecord;
		token(input: TokenInput): Promise<string>;
		/** Signs with a new key from now on; without `keepOld` the others leave the key set. */
		rotateKeys(options?: {keepOld?: boolean}): Promise<void>;
		/** The collected events that name any of these, oldest first. */
		eventsAbout(...refs: Ref[]): WebhookEvents;
		/** Makes the next calls fail; the first fault that meets a call is the one it meets. */
		fail(fault: FaultInput): Fault;
		clearFaults(): void;
		/** Every request so far, oldest first. */
		calls: Call[];
		/** Its state, read-only. */
		directory: Directory;
		/** Receives each event instead of collecting it; null: collect again. */
		onEvent(listener: ((event: WebhookEvents[number]) => void) | null): void;
		/** More paths, as the development server has. */
		serve(routes: HttpRoute[]): void;
		stop(): Promise<void>;
	};
type WebhookEvents = Webhooks['events'];

export type {Delivery};

const peopleOf = (directory: Directory): People => ({
	user: (input) => createUser(directory, input),
	updateUser: (user, input) => updateUser(directory, user, input),
	deleteUser: (user) => deleteUser(directory, user),
	organization: (input) => createOrganization(directory, input),
	updateOrganization: (organization, input) => updateOrganization(directory, organization, input),
	deleteOrganization: (organization) => {
		deleteOrganization(directory, organization);
	},
	member: (input) => createMembership(directory, input),
	updateMember: (organization, user, publicMetadata) =>
		updateMembershipMetadata(directory, findMembership(directory, organization, user), {publicMetadata}),
	removeMember: (organization, user) => deleteMembership(directory, findMembership(directory, organization, user)),
	invitation: (input) => createInvitation(directory, input),
	accept: (invitation, user) => acceptInvitation(directory, invitation, user),
	revoke: (invitation) => revokeInvitation(directory, invitation),
});

/**
 * An identity provider on loopback with the wire format of contract/identity 2 and contract/identity 6. It keeps its
 * state and provides session tokens and their keys, the backend API, signed webhooks, and faults on demand.
 */
export const startIdentityProvider = async (options: IdentityProviderOptions = {}): Promise<IdentityProvider> => {
	const {
		clock = createClock(0),
		port = 0,
		secretKey = `sk_test_${randomBytes(20).toString('hex')}`,
		webhookSecret = `whsec_${randomBytes(24).toString('base64')}`,
	} = options;
	const webhooks = createWebhooks({clock, secret: webhookSecret, instanceId: newId('ins')});
	let listener: ((event: WebhookEvents[number]) => void) | null = null;
	const emit = (type: string, data: unknown): void => {
		const event = webhooks.event(type, data);
		if (listener === null) {
			webhooks.events.push(event);
		} else {
			listener(event);
		}
	};

	const directory = createDirectory({clock, settings: {...defaultSettings, ...options.settings}, emit});
	const opsOrganization = createOrganization(directory, {
		id: options.opsOrganizationId ?? newId('org'),
		name: 'Oplink operations',
	});
	webhooks.events.length = 0;

	const keys = await createSigningKeys();
	const faults = createFaults();
	const calls: Call[] = [];
	const routes: HttpRoute[] = [
		{method: 'GET', path: '/.well-known/jwks.json', handle: () => keys.keySet()},
		{method: 'GET', path: '/v1/jwks', handle: () => keys.keySet()},
		...backendApi(directory),
	];
	const {url, stop} = await startHttpServer({routes, faults, calls, secretKey, port});

	return {
		...peopleOf(directory),
		...webhooks,
		url,
		env: {
			IDP_ISSUER: url,
			IDP_JWKS_URL: `${url}/.well-known/jwks.json`,
			IDP_API_URL: `${url}/v1`,
			IDP_API_KEY: secretKey,
			IDP_WEBHOOK_SECRET: webhookSecret,
			OPS_ORG_ID: opsOrganization.id,
		},
		opsOrganization,
		token: (input) => mintToken({directory, keys, issuer: url}, input),
		rotateKeys: keys.rotate,
		eventsAbout: (...refs) => webhooks.about(...refs.map(idOf)),
		fail: faults.add,
		clearFaults: faults.clear,
		calls,
		directory,
		onEvent: (given) => {
			listener = given;
		},
		serve: (more) => {
			routes.push(...more);
		},
		stop,
	};
};
