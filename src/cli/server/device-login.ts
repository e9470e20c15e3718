import {lstat, open, rm} from 'node:fs/promises';
import type {Configuration, TokenEndpointResponse, TokenEndpointResponseHelpers} from 'openid-client';
import {createClock} from '../../platform/clock.ts';
import {exitCodes, OperatorError} from '../cli-errors.ts';
import {type Io, writeMessage} from '../terminal/io.ts';
import {isLoopback} from './left-in-data-dir.ts';
import {type Profile, profilesPath, readProfiles, type SignIn, saveProfiles} from './profiles.ts';

/** The result of a sign-in: the token for the server, and the data that renews it. */
type SignedIn = {token: string; signIn: SignIn};

type Tokens = TokenEndpointResponse & TokenEndpointResponseHelpers;

/** Renewed so long before its end, so that no request of a command is late. */
const MARGIN_MS = 60_000;
/** A lock that is older was left by a process that died. */
const STALE_LOCK_MS = 30_000;
const LOCK_PAUSE_SECONDS = 0.2;

const clock = createClock(0);

const failed = (message: string, next: string) => new OperatorError(message, exitCodes.authentication, next);

/** Loaded on first use: few commands sign anybody in. */
const configure = async (issuer: string, clientId: string): Promise<Configuration> => {
	const {allowInsecureRequests, discovery, None} = await import('openid-client');
	return discovery(
		new URL(issuer),
		clientId,
		undefined,
		None(),
		// Over http only to this machine.
		isLoopback(issuer) ? {execute: [allowInsecureRequests]} : {},
	);
};

/** The token that the server accepts: the access token if it is a JWT, as of Keycloak; else the ID token. */
const tokenOf = ({access_token: access, id_token: id}: Tokens): string =>
	access.split('.').length === 3 || id === undefined ? access : id;

const signedIn = (issuer: string, clientId: string, tokens: Tokens, before: string | null): SignedIn => ({
	token: tokenOf(tokens),
	signIn: {
		issuer,
		clientId,
		// A provider that does not rotate them sends none again.
		refreshToken: tokens.refresh_token ?? before,
		expiresAt: new Date(clock.now().getTime() + (tokens.expiresIn() ?? 300) * 1000).toISOString(),
	},
});

/** The claim of an ID token that openid-client refused, named by a cause of its error. */
const claimIn = (error: unknown): string | null => {
	const {claim, cause} = (error ?? {}) as {claim?: unknown; cause?: unknown};
	return typeof claim === 'string' ? claim : cause === undefined ? null : claimIn(cause);
};

/** The device authorization grant (RFC 8628): a person confirms a code in a browser. @throws OperatorError. */
export const signInByDevice = async (io: Io, issuer: string, clientId: string): Promise<SignedIn> => {
	const {initiateDeviceAuthorization, pollDeviceAuthorizationGrant, ResponseBodyError} = await import('openid-client');
	const configuration = await configure(issuer, clientId).catch((error: unknown) => {
		throw failed(`${issuer} could not be asked: ${(error as Error).message}`, 'Check the issuer in OPERATOR_OIDC_FILE');
	});
	try {
		const device = await initiateDeviceAuthorization(configuration, {scope: 'openid email profile offline_access'});
		await writeMessage(
			io,
			`Open ${device.verification_uri_complete ?? device.verification_uri} and confirm the code ${device.user_code}`,
		);
		const tokens = await pollDeviceAuthorizationGrant(configuration, device, undefined, {signal: io.interruption});
		return signedIn(issuer, clientId, tokens, null);
	} catch (error) {
		io.interruption.throwIfAborted();
		if (error instanceof ResponseBodyError) {
			const words: Record<string, string> = {
				access_denied: 'The sign-in was refused in the browser',
				expired_token: 'Nobody confirmed the code in time',
			};
			throw failed(
				words[error.error] ?? `The provider refused: ${error.error_description ?? error.error}`,
				'Run oplink login --oidc again',
			);
		}

		const claim = claimIn(error);
		const about = claim === null ? '' : ` (${claim})`;
		throw failed(`The sign-in failed: ${(error as Error).message}${about}`, 'Run oplink login --oidc again');
	}
};

/** Runs `work` while no other command renews: a refresh token that rotates is good for one. */
const withRenewalLock = async (io: Io, work: () => Promise<void>): Promise<void> => {
	const lock = `${profilesPath(io.env)}.lock`;
	for (;;) {
		const handle = await open(lock, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
			if (error.code === 'EEXIST') {
				return null;
			}

			throw error;
		});
		if (handle !== null) {
			await handle.close();
			break;
		}

		// The link itself, because its target may be gone. A time in the future is as wrong as an old one.
		const {mtimeMs} = await lstat(lock).catch(() => ({mtimeMs: clock.now().getTime()}));
		if (Math.abs(clock.now().getTime() - mtimeMs) > STALE_LOCK_MS) {
			await rm(lock, {force: true, recursive: true});
		} else {
			await io.sleep(LOCK_PAUSE_SECONDS);
		}
	}

	try {
		await work();
	} finally {
		await rm(lock, {force: true});
	}
};

const isDue = (profile: Profile | undefined): profile is Profile & {signIn: SignIn} =>
	profile?.signIn !== undefined && Date.parse(profile.signIn.expiresAt) - clock.now().getTime() < MARGIN_MS;

const renew = async ({name, signIn}: Profile & {signIn: SignIn}): Promise<SignedIn> => {
	const {issuer, clientId, refreshToken} = signIn;
	const again = `oplink login --oidc --name ${name}`;
	if (refreshToken === null) {
		throw failed(`The sign-in of profile '${name}' has ended`, again);
	}

	const {refreshTokenGrant, ResponseBodyError} = await import('openid-client');
	try {
		const tokens = await refreshTokenGrant(await configure(issuer, clientId), refreshToken);
		return signedIn(issuer, clientId, tokens, refreshToken);
	} catch (error) {
		throw error instanceof ResponseBodyError
			? failed(`The sign-in of profile '${name}' has ended: ${error.error}`, again)
			: failed(`The sign-in of profile '${name}' could not be renewed: ${(error as Error).message}`, again);
	}
};

/** Renews the token of a profile that was signed in by a provider, if it is about to end. @throws OperatorError. */
export const renewIfDue = async (io: Io, name: string): Promise<void> => {
	if (!isDue(readProfiles(io.env).byName.get(name))) {
		return;
	}

	await withRenewalLock(io, async () => {
		// Another command may have renewed it meanwhile.
		const profiles = readProfiles(io.env);
		const profile = profiles.byName.get(name);
		if (isDue(profile)) {
			const renewed = await renew(profile);
			await saveProfiles(io.env, {...profiles, byName: new Map(profiles.byName).set(name, {...profile, ...renewed})});
		}
	});
};

/** Ends a sign-in at its provider, if the provider can. */
export const endSignIn = async ({issuer, clientId, refreshToken}: SignIn): Promise<void> => {
	if (refreshToken !== null) {
		const {tokenRevocation} = await import('openid-client');
		await tokenRevocation(await configure(issuer, clientId), refreshToken);
	}
};
