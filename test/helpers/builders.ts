import {randomUUID} from 'node:crypto';
import {admin, type Caller, withKey} from './callers.ts';
import type {TestService} from './service.ts';

export type TestOrganization = {
	id: string;
	orgKey: string;
	name: string;
	serverKey: string;
	clientKey: string;
	/** A caller with the SERVER key. */
	server: Caller;
	/** A caller with the CLIENT key. */
	client: Caller;
	/** The operator, whose paths are below `/admin/organizations/ID`. */
	operator: Caller;
};

/** The app configuration of most tests: complete for iOS and with one Android app. */
export const exampleAppConfig = {
	ios: {bundleId: 'com.acme.shop.ios', teamId: 'ABCDE12345', appStoreId: '123456789', scheme: 'acmeshop'},
	android: [
		{
			packageName: 'com.acme.shop',
			sha256Fingerprints: [Array.from({length: 32}, (_, index) => (index + 16).toString(16).toUpperCase()).join(':')],
			scheme: 'acmeshop',
		},
	],
};

const expectStatus = (status: number, expected: number, text: string): void => {
	if (status !== expected) {
		throw new Error(`a builder got ${status} instead of ${expected}: ${text}`);
	}
};

/** A new organization, made by the operator through the API, with both its keys. */
export const organization = async (
	service: TestService,
	{
		plan = 'GROWTH',
		appConfig = exampleAppConfig as object | null,
		name = `Acme ${randomUUID()}`,
	}: {plan?: string | null; appConfig?: object | null; name?: string} = {},
): Promise<TestOrganization> => {
	const created = await admin(service).post('/admin/organizations', {name, ...(plan === null ? {} : {plan})});
	expectStatus(created.status, 201, created.text);
	const {id, orgKey} = created.body as {id: string; orgKey: string};
	const operator = admin(service, `/admin/organizations/${id}`);
	if (appConfig !== null) {
		const configured = await operator.put('/app-config', appConfig);
		expectStatus(configured.status, 200, configured.text);
	}

	const keys = await operator.get('/api-keys');
	expectStatus(keys.status, 200, keys.text);
	const serverKey: string = keys.body.serverKey.displayKey;
	const clientKey: string = keys.body.sdkKey.displayKey;
	return {
		id,
		orgKey,
		name,
		serverKey,
		clientKey,
		server: withKey(service, serverKey),
		client: withKey(service, clientKey),
		operator,
	};
};

/** A link of the organization, created with its SERVER key. */
export const link = async ({server}: TestOrganization, body: object = {}) => {
	const created = await server.post('/links', {path: '/sale', ...body});
	expectStatus(created.status, 201, created.text);
	return created.body as {id: string; shortCode: string; url: string; [field: string]: unknown};
};

/** A verified custom domain of the organization, with these settings. */
export const approvedDomain = async (
	{operator}: Pick<TestOrganization, 'operator'>,
	hostname: string,
	settings?: object,
) => {
	const added = await operator.post('/domains', {hostname});
	expectStatus(added.status, 201, added.text);
	const path = `/domains/${added.body.id}`;
	const approved = await operator.post(`${path}/approve`);
	expectStatus(approved.status, 200, approved.text);
	const changed = settings === undefined ? approved : await operator.patch(path, settings);
	expectStatus(changed.status, 200, changed.text);
	return changed.body as {id: string; hostname: string; [field: string]: unknown};
};
