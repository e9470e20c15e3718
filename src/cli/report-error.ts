import {OplinkApiError, OplinkConnectionError} from '../client/errors.ts';
import {
	channelTaken,
	clickStoreUnavailable,
	domainLookupFailed,
	domainNotVerified,
	domainRecordMissing,
	domainRejected,
	domainTaken,
	externalIdTaken,
	gatewayEventNotFound,
	HttpError,
	linkNotFound,
	matchAttemptNotFound,
	nothingStoredAbout,
	organizationHasSubscription,
	organizationNameTaken,
	organizationNotFound,
	shortCodeTaken,
	templateInUse,
	templateNameTaken,
	unknownLinkDomain,
	unknownPlan,
} from '../errors.ts';
import {planNames} from './advice.ts';
import {InterruptedError, OperatorError} from './cli-errors.ts';
import {exitCodes} from './exit-codes.ts';
import {explainSystemError, isSystemError, type PathOrigins} from './system-error.ts';

/** The message for stderr and the exit code of a failure. */
export type Report = {lines: string[]; exitCode: number};

const exitCodeByStatus: Readonly<Record<number, number>> = {
	401: exitCodes.authentication,
	402: exitCodes.plan,
	403: exitCodes.authentication,
	404: exitCodes.notFound,
	409: exitCodes.conflict,
	422: exitCodes.plan,
	428: exitCodes.plan,
};

const exitCodeOf = (error: OplinkApiError): number => {
	const {status, code} = error;
	if (isForeign(error) && status === 404) {
		return exitCodes.failed;
	}

	return status === 403 && code === 'FEATURE_NOT_AVAILABLE'
		? exitCodes.plan
		: (exitCodeByStatus[status] ?? exitCodes.failed);
};

/** What a message says before the name that it quotes. */
const beforeName = (refusal: (name: string) => Error): string => refusal('').message.split("''")[0] ?? '';

const THE_LINK = 'oplink links list --search TEXT shows the link that has it, which oplink links update changes';

/** Next steps for refusals whose status alone is ambiguous, by the start of their message. */
const byMessage: ReadonlyArray<[start: string, next: string]> = [
	[organizationNotFound().message, 'Name it by its id or orgKey: oplink orgs list --search TEXT shows them by name'],
	[
		organizationHasSubscription().message,
		'Cancel it at once, also at its gateway, with oplink plan set --org ORG none; then delete the organization',
	],
	[
		beforeName((value) => domainRecordMissing('', value, [])),
		'Set that TXT record at the DNS provider of the zone and repeat this once resolvers see it: dig +short TXT NAME; ' +
			'an operator who knows the owner verifies without it: oplink domains approve',
	],
	[domainRejected().message, 'Where the operator decides otherwise: oplink domains approve'],
	[
		domainLookupFailed('').message.split('  ')[0] ?? '',
		'See that the name servers of the zone answer, and DNS_SERVERS of the server: oplink doctor',
	],
	[
		clickStoreUnavailable().message,
		'The ClickHouse of CLICKS_URL does not answer the server: oplink doctor says why; clicks wait in the journal meanwhile',
	],
	[
		beforeName(organizationNameTaken),
		'Take another name; oplink orgs list --search TEXT shows the organization that has it',
	],
	[beforeName(shortCodeTaken), `Take another one, or none for a generated one; ${THE_LINK}`],
	[beforeName(externalIdTaken), 'oplink links list --external-id ID shows the link that has it'],
	[beforeName(templateNameTaken), 'Take another name, or change that template: oplink templates update'],
	[beforeName(channelTaken), 'oplink channels list shows those that exist'],
	[
		beforeName(domainTaken),
		'oplink domains list shows the domains of an organization; another one may have it, which must remove it first',
	],
	[
		domainNotVerified().message,
		'oplink domains verify DOMAIN looks its DNS record up; oplink domains approve DOMAIN needs none',
	],
	[templateInUse().message, 'Detach each link: oplink links update LINK --clear templateId'],
	[linkNotFound().message, 'oplink links list shows the short codes'],
	[unknownLinkDomain().message, 'oplink domains list shows the hosts that serve links'],
	[matchAttemptNotFound().message, 'oplink match list shows the attempts with their ids'],
	[nothingStoredAbout('user').message, 'oplink devices list shows the devices and their users'],
	[nothingStoredAbout('device').message, 'oplink devices list shows the devices'],
	[gatewayEventNotFound().message, 'oplink billing events, or oplink webhooks list, shows them with their ids'],
	[beforeName(unknownPlan), `Plans are ${planNames.join(', ')}, none, or those in PLANS_FILE of the server`],
];

const nextStepOf = (error: OplinkApiError): string | null => {
	if (isForeign(error)) {
		return 'See that the address is that of an Oplink server, and what a proxy before it does';
	}

	const {status, code, message} = error;
	const byCode: Record<string, string> = {
		PLAN_NOT_SELECTED: 'Set a plan: oplink plan set --org ORG PLAN; oplink plan list shows what each allows',
		QUOTA_EXCEEDED: 'A larger plan lifts the limit; with the admin token: oplink plan set --org ORG PLAN',
		FEATURE_NOT_AVAILABLE: 'Set a plan that includes it; with the admin token: oplink plan set --org ORG PLAN',
		APP_CONFIG_REQUIRED: 'Register the apps: oplink app-config set --org ORG --file app-config.json',
	};
	if (code !== undefined && byCode[code]) {
		return byCode[code];
	}

	const [, known] = byMessage.find(([start]) => message.startsWith(start)) ?? [];
	if (known !== undefined) {
		return known;
	}

	const byStatus: Record<number, string> = {
		401: 'oplink login, or check --token or OPLINK_ADMIN_TOKEN; with an API key --api-key or OPLINK_API_KEY',
		403: 'Use a SERVER key (opl_api_…) for links and qr, and the admin token for everything else',
		503: 'Run oplink doctor to see what is unavailable',
	};
	return byStatus[status] ?? null;
};

const isConfigError = (error: unknown): error is Error & {faults: string[]} =>
	error instanceof Error && error.name === 'ConfigError' && 'faults' in error && Array.isArray(error.faults);

/**
 * DATA_DIR's database cannot be opened or backed up; the message has the reason and the next step. Identified by name,
 * since the class is loaded late.
 */
const isDatabaseError = (error: unknown): error is Error =>
	error instanceof Error &&
	['DataDirInUseError', 'EmbeddedPostgresError', 'DatabaseSilentError', 'BackupError'].includes(error.name);

const withNextStep = (lines: string[], nextStep: string | null): string[] =>
	nextStep ? [...lines, `Next: ${nextStep}`] : lines;

/** Whether no Oplink server answered: its refusals have their status in the body, too (contract/requests 1). */
const isForeign = ({envelope}: OplinkApiError): boolean => envelope?.['statusCode'] === undefined;

/** Another program's page has a success status and invalid JSON. */
const messageOf = ({status, message}: OplinkApiError): string =>
	status < 300 ? 'The answer is not valid JSON: is this the address of an Oplink server?' : message;

const reportApiError = (error: OplinkApiError, nextStep: string | null): Report => {
	const details = (error.details ?? []).map(({field, message}) =>
		// A message mostly begins with the name of its field (contract/requests 3).
		field === undefined || message.startsWith(field) ? `  ${message}` : `  ${field}: ${message}`,
	);
	const request = error.requestId === undefined ? [] : [`Request id: ${error.requestId}`];
	return {
		lines: withNextStep([`Error: ${messageOf(error)}`, ...details, ...request], nextStep),
		exitCode: exitCodeOf(error),
	};
};

/** Reasons of TLS for a server that is there. */
const UNTRUSTED = /certificate|altnames/i;
const TRUST =
	'The server is up, but its certificate is not trusted; NODE_EXTRA_CA_CERTS=FILE names the CA that signed it';

const START = 'Start the server with oplink serve, or name another one with --url';

/**
 * The message and exit code for any error of a command: an operator's error with the next step, a bug with its stack.
 */
export const reportError = (
	error: unknown,
	origins: PathOrigins = {cwd: '/', named: []},
	advice: string | null = null,
): Report => {
	if (error instanceof OplinkApiError) {
		return reportApiError(error, advice ?? nextStepOf(error));
	}

	if (error instanceof OplinkConnectionError) {
		return {
			lines: [
				`Error: Cannot reach ${error.baseUrl}: ${error.reason}`,
				`Next: ${UNTRUSTED.test(error.reason) ? TRUST : (advice ?? START)}`,
			],
			exitCode: exitCodes.unreachable,
		};
	}

	if (error instanceof OperatorError) {
		return {lines: withNextStep([`Error: ${error.message}`], error.nextStep), exitCode: error.exitCode};
	}

	if (error instanceof InterruptedError) {
		return {lines: [error.message, ...(error.note === null ? [] : [error.note])], exitCode: exitCodes.interrupted};
	}

	if (isConfigError(error)) {
		return {lines: error.faults, exitCode: exitCodes.configuration};
	}

	if (isDatabaseError(error)) {
		return {lines: [`Error: ${error.message}`], exitCode: exitCodes.failed};
	}

	if (error instanceof HttpError && error.cause instanceof Error) {
		const next = 'Start ClickHouse, or correct CLICKS_URL, and repeat this: nothing was changed';
		return {lines: withNextStep([`Error: ${error.cause.message}`], next), exitCode: exitCodes.unreachable};
	}

	if (isSystemError(error)) {
		const {message, nextStep} = explainSystemError(error, origins);
		return {lines: withNextStep([`Error: ${message}`], nextStep), exitCode: exitCodes.failed};
	}

	const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
	return {lines: ['This is a bug in oplink; please report it with these lines:', stack], exitCode: exitCodes.failed};
};
