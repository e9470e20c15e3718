import test from 'ava';
import {type IdentityProvider, startIdentityProvider} from '../../fakes/identity-provider/identity-provider.ts';
import {createFakeClock} from '../../helpers/service.ts';

let idp: IdentityProvider;
const clock = createFakeClock();
test.serial.before(async () => {
	idp = await startIdentityProvider({clock});
});
test.after.always(() => idp.stop());

const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}, to = idp) => {
	const response = await fetch(`${to.env.IDP_API_URL}${path}`, {
		method,
		headers: {authorization: `Bearer ${to.env.IDP_API_KEY}`, 'content-type': 'application/json', ...headers},
		...(body === undefined ? {} : {body: typeof body === 'string' ? body : JSON.stringify(body)}),
	});
	return {status: response.status, headers: response.headers, body: JSON.parse(await response.text())};
};

/** Status and code of a refusal, which has the provider's shape. */
const refusal = async (answer: ReturnType<typeof call>): Promise<string> => {
	const {status, body} = await answer;
	return `${status} ${body.errors[0].code}`;
};

test('every call but the open key set asks for the secret key', async (t) => {
	t.is(
		await refusal(call('GET', '/users/user_2x', undefined, {authorization: 'Bearer sk_test_x'})),
		'401 clerk_key_invalid',
	);
	const response = await fetch(`${idp.env.IDP_API_URL}/users/user_2x`);
	t.is(response.status, 401);
	const {errors, clerk_trace_id: trace} = await response.json();
	t.deepEqual(Object.keys(errors[0]), ['code', 'message', 'long_message']);
	t.is(typeof trace, 'string');
});

test('an organization is made with its creator as a member, read, changed and deleted', async (t) => {
	const user = idp.user();
	const made = await call('POST', '/organizations', {name: 'Acme', created_by: user.id});
	t.is(made.status, 200);
	t.is(made.headers.get('content-type'), 'application/json');
	t.like(made.body, {object: 'organization', name: 'Acme', slug: null, created_by: user.id, members_count: 1});
	t.regex(made.body.id, /^org_/);
	t.is(made.body.created_at, clock.now().getTime());
	const path = `/organizations/${made.body.id}`;
	t.deepEqual((await call('GET', path)).body, made.body);
	const changed = await call('PATCH', path, {name: 'Acme Two', public_metadata: {a: 1}});
	t.like(changed.body, {name: 'Acme Two', public_metadata: {a: 1}, created_by: user.id});
	t.true(changed.body.updated_at > made.body.updated_at);
	const deleted = await call('DELETE', path);
	t.deepEqual(
		[deleted.status, deleted.body],
		[200, {object: 'organization', id: made.body.id, slug: null, deleted: true}],
	);
	t.is(await refusal(call('GET', path)), '404 resource_not_found');
	t.is(await refusal(call('DELETE', path)), '404 resource_not_found');
	t.deepEqual(
		idp.eventsAbout(made.body.id).map(({type}) => type),
		['organization.created', 'organizationMembership.created', 'organization.updated', 'organization.deleted'],
	);
});

test('the fake refuses invalid organizations as the provider does', async (t) => {
	const post = (body: unknown, headers?: Record<string, string>) =>
		refusal(call('POST', '/organizations', body, headers));
	t.is((await call('POST', '/organizations', {name: 'Twin'})).status, 200);
	t.is((await call('POST', '/organizations', {name: 'Twin'})).status, 200, 'names are not unique');
	t.is(await post({name: 'Acme', slug: 'acme'}), '403 organization_slugs_disabled');
	t.is(await post({}), '422 form_param_missing');
	t.is(await post({name: 'a'.repeat(257)}), '422 form_param_value_invalid');
	t.is(await post({name: 'see https://evil.test'}), '422 form_param_value_invalid');
	t.is(await post({name: 'Acme', created_by: 'user_2x'}), '400 organization_creator_not_found');
	t.is(await post({name: 'Acme', createdBy: 'user_2x'}), '422 form_param_unknown');
	t.is(await post('{"name":'), '400 request_body_invalid');
	t.is(await post('name=Acme', {'content-type': 'text/plain'}), '415 unsupported_content_type');
});

test('with slugs switched on a taken one is refused and an organization is found by its own', async (t) => {
	const provider = await startIdentityProvider({clock, settings: {slugsEnabled: true}});
	t.teardown(provider.stop);
	const made = await call('POST', '/organizations', {name: 'Acme', slug: 'acme'}, {}, provider);
	t.is(made.body.slug, 'acme');
	t.is((await call('GET', '/organizations/acme', undefined, {}, provider)).body.id, made.body.id);
	t.is(
		await refusal(call('POST', '/organizations', {name: 'Acme', slug: 'acme'}, {}, provider)),
		'422 form_identifier_exists',
	);
});

test('memberships are listed by page and by user', async (t) => {
	const organization = idp.organization();
	const users = Array.from({length: 12}, () => idp.user());
	for (const user of users) {
		idp.member({organization, user, role: 'viewer'});
	}

	const path = `/organizations/${organization.id}/memberships`;
	const first = await call('GET', path);
	t.deepEqual([first.body.data.length, first.body.total_count], [10, 12]);
	t.is((await call('GET', `${path}?limit=500&offset=10`)).body.data.length, 2);
	const [one, two] = users;
	const asked = await call('GET', `${path}?user_id=${one?.id}&user_id=${two?.id}`);
	t.is(asked.body.total_count, 2);
	t.like(asked.body.data[1], {
		object: 'organization_membership',
		role: 'org:member',
		role_name: 'Member',
		public_metadata: {role: 'viewer'},
		organization: {id: organization.id},
		public_user_data: {user_id: one?.id},
	});
	t.deepEqual((await call('GET', `${path}?user_id=user_2x`)).body, {data: [], total_count: 0});
	t.is(await refusal(call('GET', `${path}?limit=501`)), '422 form_param_value_invalid');
	t.is(await refusal(call('GET', '/organizations/org_2x/memberships')), '404 resource_not_found');
});

test('membership metadata merges deeply, and null deletes a key', async (t) => {
	const organization = idp.organization();
	const user = idp.user();
	idp.member({organization, user, publicMetadata: {role: 'viewer', a: {b: 1, c: 2}, d: 3}});
	const path = `/organizations/${organization.id}/memberships/${user.id}/metadata`;
	const merged = await call('PATCH', path, {public_metadata: {role: 'owner', a: {c: null, e: 4}, d: null}});
	t.is(merged.status, 200);
	t.deepEqual(merged.body.public_metadata, {role: 'owner', a: {b: 1, e: 4}});
	t.is(await refusal(call('PATCH', path.replace(user.id, 'user_2x'), {})), '404 resource_not_found');
	t.is(idp.eventsAbout(user).at(-1)?.type, 'organizationMembership.updated');
});

test('the last member with the permissions of the creator can be neither demoted nor removed', async (t) => {
	const owner = idp.user();
	const other = idp.user();
	const organization = idp.organization({createdBy: owner});
	idp.member({organization, user: other});
	const path = (user: {id: string}) => `/organizations/${organization.id}/memberships/${user.id}`;
	const needed = '400 organization_minimum_permissions_needed';
	t.is(await refusal(call('DELETE', path(owner))), needed);
	t.is(await refusal(call('PATCH', path(owner), {role: 'org:member'})), needed);
	t.is(await refusal(call('PATCH', path(other), {role: 'owner'})), '422 form_param_value_invalid');
	t.is((await call('PATCH', path(other), {role: 'org:admin'})).body.role_name, 'Admin');
	const removed = await call('DELETE', path(owner));
	t.is(removed.status, 200);
	t.is(removed.body.public_user_data.user_id, owner.id);
	t.is(await refusal(call('DELETE', path(owner))), '404 resource_not_found');
});

test('an invitation is made, listed, accepted and then no longer pending', async (t) => {
	const organization = idp.organization();
	const path = `/organizations/${organization.id}/invitations`;
	const invite = (email: string, more: object = {}) =>
		call('POST', path, {email_address: email, role: 'org:member', public_metadata: {role: 'analyst'}, ...more});
	const made = await invite('Ana@acme.test');
	t.is(made.status, 200);
	t.like(made.body, {
		object: 'organization_invitation',
		email_address: 'Ana@acme.test',
		organization_id: organization.id,
		status: 'pending',
		public_metadata: {role: 'analyst'},
		inviter_id: null,
	});
	t.is(await refusal(invite('ana@ACME.test')), '400 organization_invitation_not_unique');
	const revoked = (await invite('bob@acme.test')).body;
	t.is((await call('POST', `${path}/${revoked.id}/revoke`)).body.status, 'revoked');
	t.is(await refusal(call('POST', `${path}/${revoked.id}/revoke`, {})), '404 organization_invitation_not_pending');
	t.is(await refusal(call('POST', `${path}/orginv_2x/revoke`)), '404 resource_not_found');
	t.is((await invite('bob@acme.test')).status, 200, 'a revoked one is not in the way');

	const membership = idp.accept(made.body);
	t.like(membership, {role: 'org:member', public_metadata: {role: 'analyst'}});
	t.is(membership.public_user_data.identifier, 'Ana@acme.test');
	t.is(await refusal(call('POST', `${path}/${made.body.id}/revoke`)), '404 organization_invitation_not_pending');
	t.is(await refusal(invite('ana@acme.test')), '400 already_a_member_in_organization');

	const statusesOf = async (query: string) =>
		(await call('GET', `${path}${query}`)).body.data.map(({status}: {status: string}) => status);
	t.deepEqual(await statusesOf(''), ['pending', 'revoked', 'accepted']);
	t.deepEqual(await statusesOf('?status=pending&status=accepted'), ['pending', 'accepted']);
	t.deepEqual(await statusesOf('?order_by=+created_at'), ['accepted', 'revoked', 'pending']);
	t.deepEqual(await statusesOf('?email_address=ANA@acme.test'), ['accepted'], 'addresses are compared without case');
	t.is(await refusal(call('GET', `${path}?status=open`)), '422 form_param_value_invalid');
	t.deepEqual(
		idp.eventsAbout(membership.public_user_data.user_id).map(({type}) => type),
		['user.created', 'organizationMembership.created'],
	);
});

test('an invitation expires by itself', async (t) => {
	const moving = createFakeClock();
	const provider = await startIdentityProvider({clock: moving});
	t.teardown(provider.stop);
	const organization = provider.organization();
	const invitation = provider.invitation({organization, email: 'ana@acme.test', expiresInDays: 1});
	moving.advance(24 * 60 * 60);
	const listed = await call(
		'GET',
		`/organizations/${organization.id}/invitations?status=expired`,
		undefined,
		{},
		provider,
	);
	t.is(listed.body.data[0].id, invitation.id);
	t.throws(() => provider.accept(invitation), {message: 'not pending'});
});

test('the fake refuses invalid invitations as the provider does', async (t) => {
	const organization = idp.organization({maxAllowedMemberships: 2});
	const user = idp.user();
	idp.member({organization, user});
	const path = `/organizations/${organization.id}/invitations`;
	const invite = (body: object) =>
		refusal(call('POST', path, {email_address: 'a@acme.test', role: 'org:member', ...body}));
	t.is(await invite({role: 'viewer'}), '422 form_param_value_invalid');
	t.is(await invite({role: undefined}), '422 form_param_missing');
	t.is(await invite({email_address: 'nobody'}), '422 form_param_format_invalid');
	t.is(await invite({expires_in_days: 366}), '422 form_param_value_invalid');
	t.is(await invite({inviter_user_id: user.id}), '403 authorization_invalid');
	idp.invitation({organization, email: 'b@acme.test'});
	t.is(await invite({}), '403 organization_membership_quota_exceeded');
});

test('a user and their memberships are read', async (t) => {
	const user = idp.user({email: null, username: 'mona'});
	const first = idp.organization();
	idp.member({organization: first, user});
	const read = await call('GET', `/users/${user.id}`);
	t.is(read.status, 200);
	t.like(read.body, {object: 'user', email_addresses: [], primary_email_address_id: null, username: 'mona'});
	const memberships = await call('GET', `/users/${user.id}/organization_memberships`);
	t.is(memberships.body.total_count, 1);
	t.is(memberships.body.data[0].public_user_data.identifier, 'mona');
	t.is(await refusal(call('GET', '/users/user_2x')), '404 resource_not_found');
	t.is(await refusal(call('GET', '/users/user_2x/organization_memberships')), '404 resource_not_found');
	t.is(await refusal(call('GET', '/nothing')), '404 resource_not_found');
});
