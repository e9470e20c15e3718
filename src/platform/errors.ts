import {STATUS_CODES} from 'node:http';

/** One invalid field of a request: `field` is its dotted path, absent if the whole body is meant. */
export type FieldFault = {message: string; field?: string};

/** The machine-readable part of a structured error (contract/requests 5): usually a `code` with extra fields. */
type ErrorExtras = {code?: string; [field: string]: unknown};

type RefusalOptions = {
	details?: FieldFault[] | null;
	extras?: ErrorExtras | null;
	/** Seconds, sent as `Retry-After`. */
	retryAfter?: number | null;
	/** The limit that refused the request; not sent. */
	limit?: string | null;
	/** For the log only. */
	cause?: unknown;
};

/**
 * A refusal that is sent to the caller. Only `http/envelope.ts` builds the envelope from it (contract/requests 1). Any
 * other exception is our fault and answers 500.
 */
export class HttpError extends Error {
	override name = 'HttpError';
	readonly details: FieldFault[] | null;
	readonly extras: ErrorExtras | null;
	readonly retryAfter: number | null;
	readonly limit: string | null;

	constructor(
		readonly status: number,
		/** The name of the refusal, sent as `X-Error-Code` (contract/requests 5). */
		readonly code: string,
		message: string,
		{details = null, extras = null, retryAfter = null, limit = null, cause}: RefusalOptions = {},
	) {
		const {stackTraceLimit} = Error;
		// Taking down a stack is a tenth of the time of an answer, and nobody reads that of a caller's fault.
		Error.stackTraceLimit = status < 500 ? 0 : stackTraceLimit;
		super(message, {cause});
		Error.stackTraceLimit = stackTraceLimit;
		this.details = details;
		this.extras = extras;
		this.retryAfter = retryAfter;
		this.limit = limit;
	}

	/** One line: the status, the message and the fault of each field. */
	get summary(): string {
		const faults = (this.details ?? []).map(({message}) => message).filter((message) => message !== this.message);
		return [`${this.status} ${this.message}`, ...(faults.length === 0 ? [] : [faults.join('; ')])].join(': ');
	}

	/** The status name of the envelope's `error`, such as 'Not Found'. */
	get statusName(): string {
		return STATUS_CODES[this.status] ?? 'Error';
	}
}

/** The refusal that was caught. @throws any other error. */
export const refusal = (error: unknown): HttpError => {
	if (error instanceof HttpError) {
		return error;
	}

	throw error;
};

/** The value. @throws `fault` if there is none. */
export const required = <T>(value: T | null | undefined, fault: () => Error): T => {
	if (value === null || value === undefined) {
		throw fault();
	}

	return value;
};

const badRequest = (code: string, message: string, details: FieldFault[] | null = null) =>
	new HttpError(400, code, message, {details});
const unauthorized = (code: string, message: string) => new HttpError(401, code, message);
const forbidden = (code: string, message: string) => new HttpError(403, code, message);
const notFound = (code: string, message: string) => new HttpError(404, code, message);
const conflict = (code: string, message: string) => new HttpError(409, code, message);
/** The envelope's `code` (contract/requests 5) is the same name in capitals. */
const structured = (status: number, code: string, message: string, fields: Record<string, string> = {}) =>
	new HttpError(status, code, message, {extras: {code: code.toUpperCase(), ...fields}});

/** Maximum faults listed in an answer. */
const MAX_DETAILS = 100;
const more: FieldFault = {message: 'Too many invalid fields; the rest are not listed'};
export const validationFailed = (details: readonly FieldFault[]) =>
	new HttpError(400, 'validation_failed', 'Validation failed', {
		details: details.length > MAX_DETAILS ? [...details.slice(0, MAX_DETAILS - 1), more] : [...details],
	});
export const unreadableBody = () => badRequest('unreadable_body', 'Request body could not be read');
export const malformedJson = () => badRequest('malformed_json', 'Request body is not valid JSON');
export const bodyTooLarge = (bytes: number) =>
	new HttpError(413, 'body_too_large', `Request body must not be larger than ${bytes} bytes`);
export const bodyTooSlow = () => new HttpError(408, 'body_too_slow', 'Request body took too long');
export const unsupportedMediaType = (expected: string) =>
	new HttpError(415, 'unsupported_media_type', `Content-Type must be ${expected}`);
export const unsupportedEncoding = () =>
	new HttpError(415, 'unsupported_encoding', 'Content-Encoding must be identity');
export const unknownPath = () => notFound('unknown_path', 'Not found');
export const rateLimited = (seconds: number, limit: string | null = null) =>
	new HttpError(429, 'rate_limited', `Rate limit exceeded. Retry after ${seconds} second(s).`, {limit});
export const workUnderWay = () =>
	conflict('change_in_progress', 'A similar change is still in progress. Try again in a moment.');
export const serverFailure = () => new HttpError(500, 'internal_server_error', 'Internal server error');
export const databaseUnavailable = () => new HttpError(503, 'database_unavailable', 'Database unavailable');
export const clickStoreUnavailable = (cause?: unknown) =>
	new HttpError(503, 'click_store_unavailable', 'Click store unavailable', {cause});
export const noTurn = () =>
	new HttpError(503, 'no_turn', 'Too many reports or exports run at once. Try again in 5 seconds.', {retryAfter: 5});
/** For the log: nobody reads it. */
export const callerGone = () => badRequest('caller_gone', 'The caller has hung up');
export const stopping = () => new HttpError(503, 'service_stopping', 'The service is stopping');

export const missingAuthorization = () => unauthorized('missing_authorization', 'Missing Authorization header');
export const malformedAuthorization = () => unauthorized('malformed_authorization', 'Invalid Authorization format');
export const invalidApiKey = () => unauthorized('invalid_api_key', 'Invalid API key');
export const organizationSuspended = () => unauthorized('organization_suspended', 'Organization is suspended');
export const invalidAdminToken = () => unauthorized('invalid_admin_token', 'Invalid admin token');
export const wrongKeyTier = (actual: string, required: string) =>
	forbidden('wrong_key_tier', `API key tier '${actual}' is not permitted on this endpoint (requires '${required}')`);

export const missingSession = () => unauthorized('missing_session', 'Missing or invalid Authorization header');
export const invalidSessionToken = () => unauthorized('invalid_session_token', 'Invalid Clerk session token');
export const missingRole = () => forbidden('missing_role', 'Missing or invalid role claim');
export const insufficientRole = () => forbidden('insufficient_role', 'Insufficient role');
export const opsRequired = () => forbidden('ops_required', 'Ops access required');
export const noValidOrganization = () =>
	forbidden('no_valid_organization', 'User does not belong to a valid organization');
export const notAMember = () => forbidden('not_a_member', 'User is not a member of this organization');
export const organizationNotActive = () => forbidden('organization_not_active', 'Organization is not active');
export const providerUnavailable = (cause?: unknown) =>
	new HttpError(502, 'identity_provider_unavailable', 'Identity provider unavailable', {cause});
/**
 * The provider's own message: a limit of the organization there, a duplicate, a rejected value (contract/portal 11).
 */
export const providerRefused = (message: string) => forbidden('identity_provider_refused', message);
export const providerConflict = (message: string) => conflict('identity_provider_conflict', message);
export const providerRejected = (message: string) => badRequest('identity_provider_rejected', message);
export const identityEventNotFound = () => notFound('identity_event_not_found', 'Event not found');
export const invalidWebhookSignature = () => badRequest('invalid_webhook_signature', 'Invalid webhook signature');

export const featureNotAvailable = (feature: string) =>
	structured(403, 'feature_not_available', `Your plan does not include the feature ${feature}`, {feature});
export const planNotSelected = () => structured(402, 'plan_not_selected', 'Select a plan first');
/** "You've reached your links limit.", or `clicks`, `appLinks`, `members`. */
export const quotaExceeded = (quota: string) =>
	structured(402, 'quota_exceeded', `You've reached your ${quota} limit.`, {quota});
export const appConfigRequired = () =>
	structured(428, 'app_config_required', 'Register an app configuration before the first link');

/** Where to buy a paid plan (contract/portal 3). */
const CHECKOUT = '/portal/billing/checkout-session';
export const billingFlowRequired = (plan: string) =>
	structured(422, 'use_billing_flow', `The plan ${plan} must be bought through checkout`, {billingEndpoint: CHECKOUT});
export const planAlreadySelected = () =>
	conflict('plan_already_selected', 'The organization already has a plan. Change it through billing.');

export const alreadyInOrganization = () =>
	conflict('already_in_organization', 'The user already belongs to an organization');
export const memberNotFound = () => notFound('member_not_found', 'Member not found');
export const lastOwner = () =>
	conflict('last_owner', 'The organization must keep an owner. Make another member an owner first.');
export const alreadyMember = (email: string) =>
	conflict('already_member', `${email} is already a member of the organization`);
export const invitationNotFound = () => notFound('invitation_not_found', 'Invitation not found');
export const alreadyInvited = (email: string) => conflict('already_invited', `${email} already has an open invitation`);
export const noProviderOrganization = () =>
	conflict(
		'no_identity_provider_organization',
		'The identity provider does not know the organization, so nobody can be invited',
	);

export const organizationNotFound = () => notFound('organization_not_found', 'Organization not found');
export const organizationNameTaken = (name: string) =>
	conflict('organization_name_taken', `An organization named '${name}' already exists`);
export const organizationHasSubscription = () =>
	conflict(
		'organization_has_subscription',
		'The organization has an active subscription. Cancel it before deleting the organization.',
	);
export const unknownPlan = (plan: string) => badRequest('unknown_plan', `Unknown plan '${plan}'`);
export const gatewayOff = () => new HttpError(503, 'gateway_not_configured', 'Payment gateway not configured');
export const gatewayFailed = (cause?: unknown) =>
	new HttpError(502, 'gateway_unavailable', 'Payment gateway unavailable', {cause});
export const planNotForSale = (plan: string) =>
	badRequest('plan_not_for_sale', `The plan ${plan} cannot be bought by checkout`);
export const alreadySubscribed = () =>
	conflict('already_subscribed', 'The organization already has a subscription. Change its plan instead.');
export const noSubscription = () =>
	new HttpError(409, 'no_subscription', 'The organization has no active subscription', {
		extras: {billingEndpoint: CHECKOUT},
	});
export const planUnchanged = (plan: string) =>
	conflict('plan_unchanged', `The organization is already on the plan ${plan}`);
export const nothingToResume = () => conflict('nothing_to_resume', 'The subscription is not scheduled to end');
export const renewalOwed = () => conflict('renewal_owed', 'The renewal of the subscription has not been paid yet');
export const nothingToRenew = () => conflict('nothing_to_renew', 'No renewal is due for this subscription');
export const noBillingCustomer = () =>
	conflict('no_billing_customer', 'The billing portal is not available for this subscription');
export const invoiceNotFound = () => notFound('invoice_not_found', 'Invoice not found');
export const gatewayEventNotFound = () => notFound('gateway_event_not_found', 'Event not found');
export const sharedDomainFull = () =>
	conflict(
		'shared_domain_full',
		'The shared link domain has no capacity for another iOS app. Verify a custom domain first, or leave ios out.',
	);
export const appConfigNotFound = () => notFound('app_config_not_found', 'App configuration not found');

export const malformedRow = () => badRequest('malformed_row', 'The line is not valid JSON');
export const rowTooLarge = (bytes: number) =>
	new HttpError(413, 'row_too_large', `A line must not be larger than ${bytes} bytes`);
export const linkNotFound = () => notFound('link_not_found', 'Link not found');
export const noDeferredLink = () => notFound('no_deferred_link', 'The organization has no deferred link');
export const linkGone = (reason: 'deactivated' | 'expired' | 'suspended') =>
	new HttpError(410, 'link_gone', reason === 'suspended' ? 'Organization is suspended' : `Link is ${reason}`);
export const linkBlocked = () => new HttpError(410, 'link_blocked', 'Link is blocked');
export const shortCodeTaken = (shortCode: string) =>
	conflict('short_code_taken', `Short code '${shortCode}' is already in use`);
export const externalIdTaken = (externalId: string) =>
	conflict('external_id_taken', `External id '${externalId}' is already in use`);
/** With its detail, which may stand beside those of other fields. */
export const unknownChannel = (channel: string) => {
	const message = `Unknown channel '${channel}'`;
	return badRequest('unknown_channel', message, [{message, field: 'channel'}]);
};
export const domainIsAlias = () =>
	conflict('domain_is_alias', 'The name is one of LINK_DOMAIN_ALIASES: it serves the shared link domain');
export const reportNotFound = () => notFound('report_not_found', 'Report not found');
export const templateNotFound = () => notFound('template_not_found', 'Template not found');
export const templateNotOpen = () =>
	notFound('template_not_open', 'Template not found, or its clientCreate opens it to no app');
export const templateNameTaken = (name: string) =>
	conflict('template_name_taken', `A template named '${name}' already exists`);
export const templateInUse = () =>
	conflict('template_in_use', 'The template is used by links. Detach them before deleting it.');
export const templatePathInUse = () =>
	conflict('template_path_in_use', 'Links take their path from this template, so it cannot be cleared');
export const apiKeyNotFound = () => notFound('api_key_not_found', 'API key not found');
export const channelNotFound = () => notFound('channel_not_found', 'Channel not found');
export const channelTaken = (name: string) => conflict('channel_taken', `Channel '${name}' already exists`);
export const idempotencyKeyReused = () =>
	conflict(
		'idempotency_key_reused',
		'This Idempotency-Key was used with another request body within the last 24 hours',
	);
export const idempotencyKeyInProgress = () =>
	conflict('idempotency_key_in_progress', 'A request with this Idempotency-Key is still in progress');

export const unknownDevice = (deviceId: string) =>
	notFound('unknown_device', `Unknown deviceId ${deviceId}. Call /sdk/session first.`);
export const deviceNotFound = () => notFound('device_not_found', 'Nothing is stored about this device');
export const userNotFound = () => notFound('user_not_found', 'Nothing is stored about this user');
export const matchAttemptNotFound = () => notFound('match_attempt_not_found', 'Match not found');

export const missingScope = (scope: string) => forbidden('missing_scope', `The token lacks the scope ${scope}`);
export const otherOrganizationOnly = () =>
	forbidden('bound_to_organization', 'The token is bound to one organization, and this route is of none');
/** @param claim of a token that a provider has signed. */
export const invalidClaim = (claim: string) =>
	unauthorized('invalid_claim', `The token's claim ${claim} is not accepted`);
/** @param claim that no rule takes. */
export const claimRefused = (claim: string) => forbidden('claim_refused', `The token's claim ${claim} is not accepted`);
export const operatorProviderUnavailable = () =>
	new HttpError(
		503,
		'operator_provider_unavailable',
		'The keys of the identity provider of operators could not be read. Try again in a moment.',
	);
export const tokenNotFound = () => notFound('token_not_found', 'Token not found');
export const tokenNameTaken = (name: string) => conflict('token_name_taken', `A token named '${name}' already exists`);
export const endpointNotFound = () => notFound('endpoint_not_found', 'Webhook endpoint not found');
export const deliveryNotFound = () => notFound('delivery_not_found', 'Delivery not found');
export const deliveryBodyGone = () =>
	conflict('delivery_body_gone', 'The body of the delivery was deleted, so that it cannot be sent again');
export const tooManyEndpoints = (most: number) =>
	conflict('too_many_endpoints', `An organization has at most ${most} webhook endpoints`);

export const domainNotFound = () => notFound('domain_not_found', 'Domain not found');
export const domainTaken = (hostname: string) => conflict('domain_taken', `Domain '${hostname}' is already in use`);
export const domainRecordMissing = (name: string, value: string, found: readonly string[]) =>
	conflict(
		'domain_record_missing',
		`No TXT record with the value '${value}' was found at ${name}. ${
			found.length === 0 ? 'The name has no TXT record.' : `Found: ${found.map((one) => `'${one}'`).join(', ')}.`
		}`,
	);
export const domainRejected = () =>
	conflict('domain_rejected', 'The domain was rejected by the operator and cannot be verified');
export const domainNotVerified = () => conflict('domain_not_verified', 'The domain is not verified');
export const domainLookupFailed = (name: string) =>
	new HttpError(502, 'domain_lookup_failed', `The DNS lookup of ${name} failed`);
export const unknownLinkDomain = () => notFound('unknown_link_domain', 'Unknown link domain');
export const associationFileNotFound = () =>
	notFound('association_file_not_found', 'No app configuration for this domain');
