import {randomUUID} from 'node:crypto';
import {audited, type Caller} from '../../accounts/audit/audit-log.ts';
import type {Organization} from '../../accounts/organizations/organization-store.ts';
import {HOUR_MS} from '../../platform/clock.ts';
import {
	deliveryBodyGone,
	deliveryNotFound,
	endpointNotFound,
	required,
	tooManyEndpoints,
} from '../../platform/errors.ts';
import type {Services} from '../../services.ts';
import {readTarget} from './claim-deliveries.ts';
import {createDeliveryStore, recordAttempts} from './delivery-store.ts';
import {createEndpointStore, createSecret, type Endpoint, type EndpointInput} from './endpoint.ts';
import {bodyOf} from './listeners.ts';
import {requireWebhookUrl, resolveSafely, UnsafeAddressError, unsafeWebhookUrl} from './safe-address.ts';
import {hasSucceeded, sendDelivery} from './send-delivery.ts';
import {addressRulesOf, createSenders, signingSecrets} from './sender.ts';
import {openPositions} from './stored-rows.ts';
import {webhookPolicy} from './webhook-policy.ts';

type Deps = Pick<Services, 'clock' | 'config' | 'db' | 'keyCipher'>;
type Target = {organization: {id: string}; by: Caller};

const ENTITY = 'WebhookEndpoint';

/** Refuses URLs that no delivery could reach. A name that DNS does not know may exist later. @throws 400. */
const requireReachable = async (services: Pick<Services, 'config'>, url: string | undefined): Promise<void> => {
	if (url === undefined) {
		return;
	}

	const rules = addressRulesOf(services);
	await resolveSafely(requireWebhookUrl(url, rules), rules).catch((error: unknown) => {
		if (error instanceof UnsafeAddressError) {
			throw unsafeWebhookUrl(`must not lead to this network: ${error.message}`);
		}
	});
};

/** Creates an endpoint. @returns it with its secret, which is shown here and at a rotation only. @throws 400, 409. */
export const createEndpoint = async (services: Deps, {fields, ...target}: Target & {fields: EndpointInput}) => {
	await requireReachable(services, fields.url);
	const {id} = target.organization;
	return audited(services, ENTITY, target, async ({trx, now, record}) => {
		await openPositions(trx);
		const store = createEndpointStore(trx, id);
		const {endpointsPerOrganization: most} = webhookPolicy();
		// Under the lock of the positions: two creates count each other.
		if ((await store.count()) >= most) {
			throw tooManyEndpoints(most);
		}

		const secret = createSecret();
		const endpoint = await store.insert(fields, services.keyCipher.seal(secret), now);
		await record('CREATE', endpoint.id, {url: endpoint.url, events: endpoint.events});
		return {...endpoint, secret};
	});
};

/** @throws 400, 404. */
export const updateEndpoint = async (
	services: Deps,
	{id, changes, ...target}: Target & {id: string; changes: Partial<EndpointInput>},
): Promise<Endpoint> => {
	await requireReachable(services, changes.url);
	return audited(services, ENTITY, target, async ({trx, now, record}) => {
		await openPositions(trx);
		const store = createEndpointStore(trx, target.organization.id);
		const changed = required(await store.update(id, changes, now), endpointNotFound);
		await record('UPDATE', id, {url: changed.url, changes});
		return changed;
	});
};

/** Removes an endpoint with its deliveries. @throws 404. */
export const deleteEndpoint = (services: Deps, {id, ...target}: Target & {id: string}) =>
	audited(services, ENTITY, target, async ({trx, record}) => {
		const {url} = required(await createEndpointStore(trx, target.organization.id).remove(id), endpointNotFound);
		await record('DELETE', id, {url});
		return {id, deleted: true};
	});

/** Sets a new secret; the previous one signs, too, for a day. @throws 404. */
export const rotateSecret = (services: Deps, {id, ...target}: Target & {id: string}) =>
	audited(services, ENTITY, target, async ({trx, now, record}) => {
		const secret = createSecret();
		const until = new Date(now.getTime() + webhookPolicy().rotationHours * HOUR_MS);
		const store = createEndpointStore(trx, target.organization.id);
		const rotated = required(await store.rotate(id, services.keyCipher.seal(secret), {now, until}), endpointNotFound);
		await record('ROTATE', id, {url: rotated.url});
		return {...rotated, secret};
	});

/** The deliveries of an endpoint of the organization. @throws 404. */
export const deliveriesOfEndpoint = async ({db}: Pick<Services, 'db'>, organizationId: string, endpointId: string) => {
	required(await createEndpointStore(db, organizationId).find(endpointId), endpointNotFound);
	return createDeliveryStore(db, {organizationId, endpointId});
};

/** Sends a delivery again, with its id and its body. @throws 404, 409 if its body was deleted. */
export const replayDelivery = async (
	services: Pick<Services, 'clock' | 'db'>,
	{organization, id, deliveryId}: {organization: {id: string}; id: string; deliveryId: string},
) => {
	const store = await deliveriesOfEndpoint(services, organization.id, id);
	if (!required(await store.find(deliveryId), deliveryNotFound).hasBody) {
		throw deliveryBodyGone();
	}

	await store.replay(deliveryId, services.clock.now());
	return {replayed: 1};
};

/** Sends all again that happened since a time. @throws 404. */
export const replaySince = async (
	services: Pick<Services, 'clock' | 'db'>,
	{organization, id, since}: {organization: {id: string}; id: string; since: Date},
) => {
	const store = await deliveriesOfEndpoint(services, organization.id, id);
	return {replayed: await store.replaySince(since, services.clock.now())};
};

/**
 * Sends `endpoint.test` once, also to a disabled endpoint. That of a suspended organization waits like its other deliveries.
 * @returns the outcome. @throws 404.
 */
export const testEndpoint = async (
	services: Deps,
	{organization, id}: {organization: Pick<Organization, 'id' | 'status'>; id: string},
) => {
	const {clock, db, keyCipher} = services;
	const at = clock.now();
	const own = {id, organizationId: organization.id};
	const {url, ...secrets} = required(await readTarget(db, own, at), endpointNotFound);
	const delivery = {id: randomUUID(), type: 'endpoint.test', body: bodyOf('endpoint.test', at, {endpointId: id})};
	const waits = organization.status === 'SUSPENDED';
	await db('endpoint_deliveries').insert({
		...delivery,
		endpoint_id: id,
		organization_id: organization.id,
		at,
		created_at: at,
		// A sender takes PENDING deliveries.
		status: waits ? 'PENDING' : 'FAILED',
		next_try_at: at,
	});
	if (waits) {
		const error = 'the organization is suspended; the test is sent once it is active again';
		return {deliveryId: delivery.id, ok: false, at, status: null, durationMs: 0, error, answer: null};
	}

	const senders = createSenders();
	const tried = await sendDelivery(
		{...delivery, url, secrets: signingSecrets(keyCipher, secrets)},
		{now: at, timeoutSeconds: webhookPolicy().timeoutSeconds, rules: addressRulesOf(services), senders},
	);
	senders.http.destroy();
	senders.https.destroy();
	const isOk = hasSucceeded(tried);
	const status = isOk ? 'DELIVERED' : 'FAILED';
	await recordAttempts(db, [{id: delivery.id, endpointId: id, status, nextTryAt: at, leasedUntil: at, tried}]);
	const {retryAfter: _, ...answer} = tried;
	return {deliveryId: delivery.id, ok: isOk, ...answer};
};
