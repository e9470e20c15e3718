import {develop} from '../shared/development.ts';
import {acmeId, opsId, roles, seedDevelopment} from './development-seed.ts';
import {type Directory, findUser, findUserByEmail, membershipsWhere} from './directory.ts';
import {type IdentityProvider, startIdentityProvider} from './identity-provider.ts';
import {readBody, requiredText, text} from './parameters.ts';
import {invitationNow, membershipRecord, organizationRecord} from './present.ts';
import {notFound, paramValue} from './provider-errors.ts';
import type {UserRecord} from './records.ts';

/** A user by id or address; an unknown address signs up. */
const userOf = (idp: IdentityProvider, given: string): UserRecord => {
	if (!given.includes('@')) {
		return findUser(idp.directory, given);
	}

	return findUserByEmail(idp.directory, given) ?? idp.user({email: given, firstName: given.split('@')[0] ?? null});
};

/** An organization by id or name, `ops` for the operator's, `none` for no organization. */
const organizationOf = (idp: IdentityProvider, given: string): string | null => {
	if (given === 'none') {
		return null;
	}

	const all = [...idp.directory.organizations.values()];
	const found = given === 'ops' ? idp.opsOrganization : all.find(({id, name}) => id === given || name === given);
	if (found === undefined) {
		throw notFound('Organization');
	}

	return found.id;
};

const defaultAddress = (query: URLSearchParams): string => {
	const role = query.get('role') ?? 'owner';
	if (query.get('org') === 'ops') {
		return 'ops@oplink.test';
	}

	return roles.some((known) => known === role) ? `${role}@acme.test` : 'viewer@acme.test';
};

/**
 * The session token that `user`, `org`, `role` and `ttl` ask for. Without a user it is Acme's member of that role;
 * without an organization it is the one that the user joined last.
 */
const developmentToken = (idp: IdentityProvider, query: URLSearchParams): Promise<string> => {
	const user = userOf(idp, query.get('user') ?? defaultAddress(query));
	const asked = query.get('org');
	const joined = membershipsWhere(idp.directory, {userId: user.id}).at(-1)?.organizationId ?? null;
	const organization = asked === null ? joined : organizationOf(idp, asked);
	const role = query.get('role');
	const ttl = query.has('ttl') ? Number(query.get('ttl')) : 60;
	if (!Number.isInteger(ttl)) {
		throw paramValue('ttl', 'must be seconds');
	}

	return idp.token({
		user,
		organization: query.has('user') || asked !== null ? organization : acmeId,
		ttl,
		...(role === null ? {} : {role}),
		...(query.get('version') === '1' ? {version: 1} : {}),
	});
};

/** Equal at every start, so that a service need not be restarted. Not real secrets. */
const secretKey = 'sk_test_oplink_development_identity_provider';
const webhookSecret = `whsec_${Buffer.from('oplink development webhooks').toString('base64')}`;

const settleSeconds = 3;

const actions = {
	'A session token, for an hour (60 seconds without ttl), of a role in Acme: owner, admin, developer, analyst or viewer':
		"TOKEN=$(curl -s 'HERE/dev/token?role=owner&ttl=3600')",
	'Of somebody by address, who signs up if it is new': "TOKEN=$(curl -s 'HERE/dev/token?user=mona@acme.test&ttl=3600')",
	'Of the operator': "TOKEN=$(curl -s 'HERE/dev/token?org=ops&ttl=3600')",
	'What it is for': 'curl -H "Authorization: Bearer $TOKEN" http://localhost:3000/portal/onboarding/state',
	'Follow the link in the mail of an invitation': 'curl -X POST HERE/dev/invitations/ana@acme.test/accept',
	'Make somebody a member': `curl -d '{"organization":"Acme","user":"mona@acme.test","role":"viewer"}' HERE/dev/members`,
	'Sign with a new key': 'curl -X POST HERE/dev/keys/rotate',
};

/** Sends all records again, for a service that was down or whose database is new. */
const resendAll = (directory: Directory): void => {
	for (const organization of directory.organizations.values()) {
		directory.emit('organization.created', organizationRecord(directory, organization));
	}

	for (const user of directory.users.values()) {
		directory.emit('user.created', user);
	}

	for (const membership of directory.memberships.values()) {
		directory.emit('organizationMembership.created', membershipRecord(directory, membership));
	}
};

/**
 * The provider for people: seeded, with paths for curl, and with webhooks delivered at once.
 * @param webhookUrl the service's receiver. @param stateFile the file of its state. @param say writes a log line.
 */
export const startDevelopment = async ({
	port,
	webhookUrl,
	stateFile,
	say,
}: {
	port: number;
	webhookUrl: string;
	stateFile: string;
	say(line: string): void;
}) => {
	const idp = await startIdentityProvider({
		port,
		secretKey,
		webhookSecret,
		opsOrganizationId: opsId,
		settings: {maxAllowedMemberships: 0},
	});
	const {directory} = idp;
	const setup = {
		name: 'An identity provider',
		actions,
		state: directory,
		file: stateFile,
		destination: webhookUrl,
		say,
	};
	const developed = develop(idp, setup);
	if (directory.users.size > 0) {
		resendAll(directory);
	} else {
		seedDevelopment(idp);
	}

	idp.serve({
		'GET /dev/token': async ({query}) => {
			const token = await developmentToken(idp, query);
			// A new user's webhook is at the service before the token is.
			await developed.delivery.settle(settleSeconds);
			return `${token}\n`;
		},
		'GET /dev/state': () => ({
			organizations: [...directory.organizations.values()],
			users: [...directory.users.values()],
			memberships: [...directory.memberships.values()],
			invitations: [...directory.invitations.values()].map((each) => invitationNow(directory, each)),
		}),
		'POST /dev/members': ({body}) => {
			const given = readBody(body, {organization: requiredText, user: requiredText, role: text});
			const organization = organizationOf(idp, given.organization) ?? '';
			return idp.member({...given, organization, user: userOf(idp, given.user)});
		},
		'POST /dev/invitations/:invitation/accept': ({params: {invitation: asked}}) => {
			const found = [...directory.invitations.values()].findLast(
				(each) =>
					each.id === asked || (each.email_address === asked && invitationNow(directory, each).status === 'pending'),
			);
			if (found === undefined) {
				throw notFound('Organization invitation');
			}

			return idp.accept(found);
		},
		'POST /dev/keys/rotate': ({body}) => idp.rotateKeys({keepOld: body['keepOld'] !== false}),
	});
	return {idp, ...developed};
};
