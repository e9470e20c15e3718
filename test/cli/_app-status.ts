import type {ExecutionContext, TestFn} from 'ava';
import {SDK_VERSION} from '../../src/client/version.ts';
import {exampleAppConfig, link, type TestOrganization} from '../helpers/builders.ts';
import {admin, anonymous} from '../helpers/callers.ts';
import {iPhoneApp, network, visit} from '../visits/matches/_phones.ts';
import {ends} from './_run-cli.ts';
import {serviceCli} from './_service-cli.ts';

const SDK = `oplink-js/${SDK_VERSION}`;
export const iPhone = {...iPhoneApp, appVersion: '4.2.0', sdkVersion: SDK};
export const pixel = {
	platform: 'Android',
	osVersion: '15',
	deviceModel: 'Pixel 8',
	appVersion: '4.2.0',
	sdkVersion: SDK,
};
export const iosOnly = {ios: exampleAppConfig.ios, android: []};
export const androidOnly = {android: exampleAppConfig.android};

export type Found = {
	check: string;
	status: string;
	message: string;
	next: string | null;
	platform: string | null;
	count: number;
};

let devices = 0;
export const newDevice = (): string => {
	devices += 1;
	return `device-status-${devices}`;
};

/** A service for all tests of a file, with what apps send it and what `app status` says of that. */
export const appStatus = (test: TestFn) => {
	const given = serviceCli(test);
	const {cli, service} = given;
	const session = async (
		{client}: TestOrganization,
		fields: object = iPhone,
		deviceId = newDevice(),
	): Promise<string> => {
		await client.post('/sdk/session', {deviceId, ...fields});
		return deviceId;
	};

	/** A first open with the CLIENT key. */
	const firstOpen = ({clientKey}: TestOrganization, fields: object, headers: Record<string, string> = {}) =>
		anonymous(service, network()(1)).post('/match', fields, {'X-API-Key': clientKey, ...headers});

	/** A session and then a first open that has the token of a new click. */
	const goodStart = async (acme: TestOrganization, phone: object, {field = 'clipboardToken', token = true} = {}) => {
		const deviceId = await session(acme, phone);
		const sale = await link(acme);
		const clicked = token ? (await visit(service, sale, network()(1))).token : undefined;
		const {appVersion: _, sdkVersion: __, ...signals} = phone as Record<string, string>;
		await firstOpen(acme, {...signals, deviceId, ...(clicked && {[field]: clicked})});
		return deviceId;
	};

	const fetchFiles = async (...names: string[]) => {
		for (const name of names) {
			await anonymous(service).get(`/.well-known/${name}`);
		}
	};
	const statusOf = async ({orgKey}: TestOrganization, query = '') => {
		const {status, body, text} = await admin(service).get(`/admin/organizations/${orgKey}/app-status${query}`);
		if (status !== 200) {
			throw new Error(`${status}: ${text}`);
		}

		return body;
	};

	/** The finding that `app status` has by this name; the CLI prints its sentence and its next step. */
	const named = async (t: ExecutionContext, acme: TestOrganization, check: string, exitCode = 0): Promise<Found> => {
		const {findings} = await statusOf(acme);
		const found = (findings as Found[]).find((one) => one.check === check);
		t.truthy(found, `${check} is not among ${findings.map((one: Found) => `${one.check}: ${one.message}`).join('; ')}`);
		const {stdout} = ends(t, await cli(`app status ${acme.orgKey}`), exitCode);
		const text = stdout.replaceAll(/\s+/g, ' ');
		t.true(text.includes(found?.message ?? '?'), stdout);
		t.true(text.includes(`Next: ${found?.next}`), stdout);
		return found as Found;
	};

	return {...given, session, firstOpen, goodStart, fetchFiles, statusOf, named};
};
