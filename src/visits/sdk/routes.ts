import {randomUUID} from 'node:crypto';
import {organizationRoute, route} from '../../accounts/auth/route.ts';
import {noteForeignKey} from '../../platform/app-requests/note-refusal.ts';
import {bodyLimits, limits} from '../../platform/config/limits.ts';
import {daysBefore, retention} from '../../platform/config/policies.ts';
import {HttpError} from '../../platform/errors.ts';
import {pageOf} from '../../platform/http/answer.ts';
import {reply} from '../../platform/http/route.ts';
import {pageQuerySchema} from '../../platform/http/validate.ts';
import type {Services} from '../../services.ts';
import {registerDevice} from '../devices/device-store.ts';
import {createAppLink} from './create-app-link.ts';
import {
	acceptedAnswer,
	appLinkAnswer,
	appLinkBody,
	clearedIdentityAnswer,
	deviceBody,
	deviceSessionAnswer,
	eventAnswer,
	eventBody,
	identityAnswer,
	identityBody,
	sessionBody,
} from './sdk-fields.ts';
import type {AppEvent} from './sdk-store.ts';
import {listEvents, setIdentity} from './sdk-store.ts';

/** Notes an event that was refused because its link is another organization's. @throws the refusal. */
const noteForeignLink = async (
	services: Pick<Services, 'appRequests' | 'db'>,
	{error, event, userAgent}: {error: unknown; event: AppEvent; userAgent: string | undefined},
): Promise<never> => {
	const {linkId, organizationId, deviceId} = event;
	if (error instanceof HttpError && error.code === 'link_not_found' && linkId !== null) {
		const link: {owner: string} | undefined = await services
			.db('links')
			.where({id: linkId})
			.first({owner: 'organization_id'});
		noteForeignKey(services, {ofKey: organizationId, ofLink: link?.owner, deviceId, userAgent});
	}

	throw error;
};

/** How far a phone's clock may be ahead. */
const AHEAD_DAYS = 1;

/**
 * The time of an event: as the app says, or now if that is longer ago than events are stored or more than a day ahead.
 * Reports keep a count per quarter of an hour forever, so an app must not be able to create one for each.
 */
const happenedAt = (said: Date, now: Date): Date =>
	said <= daysBefore(now, retention().eventDays) || said > daysBefore(now, -AHEAD_DAYS) ? now : said;

const ofApp = {credential: 'clientKey', cors: true} as const;

export const sdkRoutes = [
	route('POST', '/sdk/session', {
		summary: 'Register a device for a session',
		answer: deviceSessionAnswer,
		...ofApp,
		limit: limits.sdkDevices,
		body: sessionBody,
		handler: async ({services: {appRequests, db, clock}, organization, request, body: {deviceId, ...facts}}) => {
			const sessionId = randomUUID();
			const device = {organizationId: organization.id, deviceId, now: clock.now(), facts, sessionId};
			const isNewDevice = await registerDevice(db, device);
			const {platform, appVersion, sdkVersion} = facts;
			appRequests.note({
				organization,
				counts: [
					['session', appVersion],
					['sdk', sdkVersion],
				],
				platform,
				deviceId,
				userAgent: request.headers['user-agent'],
				live: {type: 'session', appVersion, sdkVersion, text: isNewDevice ? 'session of a new device' : 'session'},
			});
			return {deviceId, sessionId, isNewDevice};
		},
	}),

	route('POST', '/sdk/identity', {
		summary: 'Set the user of a device',
		answer: identityAnswer,
		...ofApp,
		limit: limits.sdkDevices,
		body: identityBody,
		handler: async ({services: {db, clock}, organization, body: {deviceId, externalUserId, traits = null}}) => {
			const device = {organizationId: organization.id, deviceId, now: clock.now()};
			await setIdentity(db, device, {externalUserId, traits});
			return {deviceId, externalUserId};
		},
	}),

	route('POST', '/sdk/identity/clear', {
		summary: 'Remove the user of a device',
		answer: clearedIdentityAnswer,
		...ofApp,
		limit: limits.sdkDevices,
		body: deviceBody,
		handler: async ({services: {db, clock}, organization, body: {deviceId}}) => {
			await setIdentity(db, {organizationId: organization.id, deviceId, now: clock.now()}, null);
			return {deviceId, externalUserId: null};
		},
	}),

	route('POST', '/sdk/links', {
		summary: 'Create a link of a template that is open to apps',
		description: `The same content of the same device is the same link (200). At most ${bodyLimits.sdkDeviceLinks.max} requests a minute and device.`,
		refusals: [402, 404, 428],
		answer: appLinkAnswer,
		otherAnswers: {200: appLinkAnswer},
		...ofApp,
		limit: limits.sdkLinks,
		body: appLinkBody,
		status: 201,
		handler: async ({services, organization, by, body}) => {
			const {isNew, link} = await createAppLink(services, {organization, by, body});
			return reply({status: isNew ? 201 : 200, body: {id: link.id, shortCode: link.shortCode, url: link.url}});
		},
	}),

	route('POST', '/sdk/events', {
		summary: 'Track an event of a device',
		answer: acceptedAnswer,
		...ofApp,
		limit: limits.sdkEvents,
		body: eventBody,
		handler: async ({services, organization, request, body}) => {
			const {appRequests, eventWriter, clock} = services;
			const now = clock.now();
			const userAgent = request.headers['user-agent'];
			const event = {
				id: randomUUID(),
				organizationId: organization.id,
				deviceId: body.deviceId,
				eventName: body.eventName,
				properties: body.properties ?? {},
				eventId: body.eventId ?? null,
				linkId: body.linkId ?? null,
				occurredAt: happenedAt(body.occurredAt ?? now, now),
				receivedAt: now,
			};
			await eventWriter.store(event).catch((error: unknown) => noteForeignLink(services, {error, event, userAgent}));
			appRequests.note({organization, counts: [['event']], deviceId: body.deviceId, userAgent});
			return {accepted: true};
		},
	}),
];

export const eventRoutes = organizationRoute('GET', '/events', {
	summary: 'List events, newest first',
	answer: pageOf(eventAnswer),
	role: 'analyst',
	query: pageQuerySchema,
	handler: ({services, organization, query}) => listEvents(services.db, organization.id, query),
});
