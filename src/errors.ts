import {STATUS_CODES} from 'node:http';

/** One invalid field of a request: `field` is its dotted path, absent if the whole body is meant. */
export type FieldFault = {message: string; field?: string};

/** The machine-readable part of a structured error (contract/requests 5): usually a `code` with extra fields. */
type ErrorExtras = {code?: string; [field: string]: unknown};

/**
 * A refusal that is sent to the caller. Only `http/envelope.ts` builds the envelope from it (contract/requests 1). Any
 * other exception is our fault and answers 500.
 */
export class HttpError extends Error {
	override name = 'HttpError';

	constructor(
		readonly status: number,
		message: string,
		readonly details: FieldFault[] | null = null,
		readonly extras: ErrorExtras | null = null,
		/** The cause, for the log only. */
		cause?: unknown,
	) {
		super(message, {cause});
	}

	/** The status name of the envelope's `error`, such as 'Not Found'. */
	get statusName(): string {
		return STATUS_CODES[this.status] ?? 'Error';
	}
}

/** The value. @throws `fault` where there is none. */
export const required = <T>(value: T | null | undefined, fault: () => Error): T => {
	if (value === null || value === undefined) {
		throw fault();
	}

	return value;
};

const badRequest = (message: string) => new HttpError(400, message);
const unauthorized = (message: string) => new HttpError(401, message);
const forbidden = (message: string) => new HttpError(403, message);
const notFound = (message: string) => new HttpError(404, message);
const conflict = (message: string) => new HttpError(409, message);

/** Most faults listed in an answer. */
const MOST_DETAILS = 100;
const more: FieldFault = {message: 'Too many invalid fields; the rest are not listed'};
export const validationFailed = (details: readonly FieldFault[]) =>
	new HttpError(
		400,
		'Validation failed',
		details.length > MOST_DETAILS ? [...details.slice(0, MOST_DETAILS - 1), more] : [...details],
	);
export const malformedJson = () => badRequest('Request body is not valid JSON');
export const bodyTooLarge = (bytes: number) =>
	new HttpError(413, `Request body must not be larger than ${bytes} bytes`);
export const bodyTooSlow = () => new HttpError(408, 'Request body took too long');
export const unsupportedMediaType = (expected: string) => new HttpError(415, `Content-Type must be ${expected}`);
export const unsupportedEncoding = () => new HttpError(415, 'Content-Encoding must be identity');
export const unknownPath = () => notFound('Not found');
export const rateLimited = (seconds: number) =>
	new HttpError(429, `Rate limit exceeded. Retry after ${seconds} second(s).`);
export const workUnderWay = () => conflict('A similar change is still in progress. Try again in a moment.');
export const serverFailure = () => new HttpError(500, 'Internal server error');
export const databaseUnavailable = () => new HttpError(503, 'Database unavailable');
export const clickStoreUnavailable = (cause?: unknown) =>
	new HttpError(503, 'Click store unavailable', null, null, cause);
export const stopping = () => new HttpError(503, 'The service is stopping');

export const missingAuthorization = () => unauthorized('Missing Authorization header');
export const malformedAuthorization = () => unauthorized('Invalid Authorization format');
export const invalidApiKey = () => unauthorized('Invalid API key');
export const organizationSuspended = () => unauthorized('Organization is suspended');
export const invalidAdminToken = () => unauthorized('Invalid admin token');
export const wrongKeyTier = (actual: string, required: string) =>
	forbidden(`API key tier '${actual}' is not permitted on this endpoint (requires '${required}')`);

export const missingSession = () => unauthorized('Missing or invalid Authorization header');
export const invalidSessionToken = () => unauthorized('Invalid Clerk session token');
export const missingRole = () => forbidden('Missing or invalid role claim');
export const insufficientRole = () => forbidden('Insufficient role');
export const opsRequired = () => forbidden('Ops access required');
export const noValidOrganization = () => forbidden('User does not belong to a valid organization');
export const notAMember = () => forbidden('User is not a member of this organization');
export const organizationNotActive = () => forbidden('Organization is not active');
export const providerUnavailable = (cause?: unknown) =>
	new HttpError(502, 'Identity provider unavailable', null, null, cause);
/**
 * The provider's own message: a limit of the organization there, a duplicate, a rejected value (contract/portal 11).
 */
export const providerRefused = (message: string) => forbidden(message);
export const providerConflict = (message: string) => conflict(message);
export const providerRejected = (message: string) => badRequest(message);
export const identityEventNotFound = () => notFound('Event not found');
export const invalidWebhookSignature = () => badRequest('Invalid webhook signature');

export const featureNotAvailable = (feature: string) =>
	new HttpError(403, `Your plan does not include the feature ${feature}`, null, {
		code: 'FEATURE_NOT_AVAILABLE',
		feature,
	});
export const planNotSelected = () => new HttpError(402, 'Select a plan first', null, {code: 'PLAN_NOT_SELECTED'});
export const quotaExceeded = (quota: string) =>
	new HttpError(402, `You've reached your ${quota} limit.`, null, {code: 'QUOTA_EXCEEDED', quota});
export const appConfigRequired = () =>
	new HttpError(428, 'Register an app configuration before the first link', null, {code: 'APP_CONFIG_REQUIRED'});

/** Where to buy a paid plan (contract/portal 3). */
const CHECKOUT = '/portal/billing/checkout-session';
export const billingFlowRequired = (plan: string) =>
	new HttpError(422, `The plan ${plan} must be bought through checkout`, null, {
		code: 'USE_BILLING_FLOW',
		billingEndpoint: CHECKOUT,
	});
export const planAlreadySelected = () => conflict('The organization already has a plan. Change it through billing.');

export const alreadyInOrganization = () => conflict('The user already belongs to an organization');
export const memberNotFound = () => notFound('Member not found');
export const lastOwner = () => conflict('The organization must keep an owner. Make another member an owner first.');
export const alreadyMember = (email: string) => conflict(`${email} is already a member of the organization`);
export const invitationNotFound = () => notFound('Invitation not found');
export const alreadyInvited = (email: string) => conflict(`${email} already has an open invitation`);
export const noProviderOrganization = () =>
	conflict('The identity provider does not know the organization, so nobody can be invited');

export const organizationNotFound = () => notFound('Organization not found');
export const organizationNameTaken = (name: string) => conflict(`An organization named '${name}' already exists`);
export const organizationHasSubscription = () =>
	conflict('The organization has an active subscription. Cancel it before deleting the organization.');
export const unknownPlan = (plan: string) => badRequest(`Unknown plan '${plan}'`);
export const gatewayOff = () => new HttpError(503, 'Payment gateway not configured');
export const gatewayFailed = (cause?: unknown) => new HttpError(502, 'Payment gateway unavailable', null, null, cause);
export const planNotForSale = (plan: string) => badRequest(`The plan ${plan} cannot be bought by checkout`);
export const alreadySubscribed = () =>
	conflict('The organization already has a subscription. Change its plan instead.');
export const noSubscription = () =>
	new HttpError(409, 'The organization has no active subscription', null, {billingEndpoint: CHECKOUT});
export const planUnchanged = (plan: string) => conflict(`The organization is already on the plan ${plan}`);
export const nothingToResume = () => conflict('The subscription is not scheduled to end');
export const renewalOwed = () => conflict('The renewal of the subscription has not been paid yet');
export const nothingToRenew = () => conflict('No renewal is due for this subscription');
export const noBillingCustomer = () => conflict('The billing portal is not available for this subscription');
export const invoiceNotFound = () => notFound('Invoice not found');
export const gatewayEventNotFound = () => notFound('Event not found');
export const sharedDomainFull = () =>
	conflict('The shared link domain has no room for another iOS app. Verify a custom domain first, or leave ios out.');
export const appConfigNotFound = () => notFound('App configuration not found');

export const malformedRow = () => badRequest('The line is not valid JSON');
export const rowTooLarge = (bytes: number) => new HttpError(413, `A line must not be larger than ${bytes} bytes`);
export const linkNotFound = () => notFound('Link not found');
export const noDeferredLink = () => notFound('The organization has no deferred link');
export const linkGone = (reason: 'deactivated' | 'expired' | 'suspended') =>
	new HttpError(410, reason === 'suspended' ? 'Organization is suspended' : `Link is ${reason}`);
export const shortCodeTaken = (shortCode: string) => conflict(`Short code '${shortCode}' is already in use`);
export const externalIdTaken = (externalId: string) => conflict(`External id '${externalId}' is already in use`);
export const unknownChannel = (channel: string) => badRequest(`Unknown channel '${channel}'`);
export const templateNotFound = () => notFound('Template not found');
export const templateNotOpen = () => notFound('Template not found, or its clientCreate opens it to no app');
export const templateNameTaken = (name: string) => conflict(`A template named '${name}' already exists`);
export const templateInUse = () => conflict('The template is used by links. Detach them before deleting it.');
export const templatePathInUse = () => conflict('Links take their path from this template, so it cannot be cleared');
export const apiKeyNotFound = () => notFound('API key not found');
export const channelNotFound = () => notFound('Channel not found');
export const channelTaken = (name: string) => conflict(`Channel '${name}' already exists`);
export const idempotencyKeyReused = () =>
	conflict('This Idempotency-Key was used with another request body within the last 24 hours');
export const idempotencyKeyInProgress = () => conflict('A request with this Idempotency-Key is still in progress');

export const unknownDevice = (deviceId: string) => notFound(`Unknown deviceId ${deviceId}. Call /sdk/session first.`);
export const nothingStoredAbout = (kind: 'device' | 'user') => notFound(`Nothing is stored about this ${kind}`);
export const matchAttemptNotFound = () => notFound('Match not found');

export const domainNotFound = () => notFound('Domain not found');
export const domainTaken = (hostname: string) => conflict(`Domain '${hostname}' is already in use`);
export const domainRecordMissing = (name: string, value: string, found: readonly string[]) =>
	conflict(
		`No TXT record with the value '${value}' was found at ${name}. ${
			found.length === 0 ? 'The name has no TXT record.' : `Found: ${found.map((one) => `'${one}'`).join(', ')}.`
		}`,
	);
export const domainRejected = () => conflict('The domain was rejected by the operator and cannot be verified');
export const domainNotVerified = () => conflict('The domain is not verified');
export const domainLookupFailed = (name: string) => new HttpError(502, `The DNS lookup of ${name} failed`);
export const unknownLinkDomain = () => notFound('Unknown link domain');
export const associationFileNotFound = () => notFound('No app configuration for this domain');
