import {develop} from '../shared/development.ts';
import {opsId, seedDevelopment} from './development-seed.ts';
import {developmentToken, organizationOf, userOf} from './development-token.ts';
import type {Directory} from './directory.ts';
import {startIdentityProvider} from './identity-provider.ts';
import {readBody, requiredText, text} from './parameters.ts';
import {invitationNow, membershipRecord, organizationRecord} from './present.ts';
import {notFound} from './provider-errors.ts';

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
