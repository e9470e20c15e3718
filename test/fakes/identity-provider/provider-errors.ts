/** A refusal in the provider's shape. */
export class ProviderError extends Error {
	constructor(
		readonly status: number,
		readonly code: string,
		message: string,
		readonly longMessage = message,
		readonly meta?: Record<string, unknown>,
	) {
		super(message);
	}
}

/** The body of a refusal (contract/identity 10). */
export const errorBody = ({code, message, longMessage, meta}: ProviderError) => ({
	errors: [{code, message, long_message: longMessage, ...(meta === undefined ? {} : {meta})}],
	clerk_trace_id: 'b2c3d4e5f60718293a4b5c6d7e8f9001',
});

export const missingKey = () =>
	new ProviderError(401, 'authentication_invalid', 'Invalid authentication', 'Unable to authenticate the request');
export const wrongKey = () => new ProviderError(401, 'clerk_key_invalid', 'The provided Clerk Secret Key is invalid.');
export const notFound = (what: string) =>
	new ProviderError(404, 'resource_not_found', 'not found', `${what} not found`);
export const bodyInvalid = () =>
	new ProviderError(400, 'request_body_invalid', 'Request body invalid', 'The request body is invalid.');
export const unsupportedContentType = () =>
	new ProviderError(415, 'unsupported_content_type', 'Content-Type is unsupported', 'Send application/json.');

const wrongParam = (code: string, message: string, name: string, what: string) =>
	new ProviderError(422, `form_param_${code}`, message, `${name} ${what}.`, {param_name: name});
export const paramMissing = (name: string) => wrongParam('missing', 'is missing', name, 'must be included');
export const paramUnknown = (name: string) =>
	wrongParam('unknown', 'is unknown', name, 'is not a valid parameter for this request');
export const paramFormat = (name: string, what: string) => wrongParam('format_invalid', 'is invalid', name, what);
export const paramValue = (name: string, what: string) => wrongParam('value_invalid', 'is invalid', name, what);

export const creatorNotFound = (userId: string) =>
	new ProviderError(400, 'organization_creator_not_found', 'creator not found', `No users found with id ${userId}.`);
export const slugsDisabled = () =>
	new ProviderError(403, 'organization_slugs_disabled', 'slugs disabled', 'Organization slugs are disabled.');
export const membershipQuotaExceeded = (limit: number) =>
	new ProviderError(
		403,
		'organization_membership_quota_exceeded',
		'organization membership quota exceeded',
		`You have reached your limit of ${limit} organization memberships, including outstanding invitations.`,
	);
export const alreadyMember = (who: string) =>
	new ProviderError(
		400,
		'already_a_member_in_organization',
		'already a member',
		`${who} is already a member of the organization.`,
	);
export const invitationNotUnique = () =>
	new ProviderError(
		400,
		'organization_invitation_not_unique',
		'organization invitation not unique',
		'Organizations cannot have duplicate pending invitations for an email address.',
	);
export const invitationNotPending = () =>
	new ProviderError(
		404,
		'organization_invitation_not_pending',
		'not pending',
		'The organization invitation is not pending.',
	);
export const minimumPermissionsNeeded = () =>
	new ProviderError(
		400,
		'organization_minimum_permissions_needed',
		'minimum organization permissions needed',
		'There has to be at least one organization member with the minimum required permissions',
	);
export const notAllowed = () =>
	new ProviderError(
		403,
		'authorization_invalid',
		'Unauthorized request',
		'You are not authorized to perform this request',
	);
