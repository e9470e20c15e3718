import {randomUUID} from 'node:crypto';
import {route} from '../../accounts/auth/route.ts';
import {bodyLimits, limits} from '../../platform/config/limits.ts';
import {daysBefore, retention} from '../../platform/config/policies.ts';
import {reply} from '../../platform/http/route.ts';
import {registerDevice} from '../devices/device-store.ts';
import {createAppLink} from './create-app-link.ts';
import {noteForeignLink} from './note-foreign-link.ts';
import {
	acceptedAnswer,
	appLinkAnswer,
	clearedIdentityAnswer,
	deviceSessionAnswer,
	identityAnswer,
} from './sdk-answers.ts';
import {appLinkBody, deviceBody, eventBody, identityBody, sessionBody} from './sdk-fields.ts';
import {setIdentity} from './sdk-store.ts';

/** How far a phone's clock may be ahead. */
const AHEAD_DAYS = 1;

/**
 * The time of an event: as the app says, or now if that is longer ago than events are stored or more than a day ahead.
 * Reports keep a count per quarter of an hour forever, so an app must not be able to create one for each.
 */
const happenedAt = (said: Date, now: Date): Date =>
	said <= daysBefore(now, retention().eventDays) || said > daysBefore(now, -AHEAD_DAYS) ? now : said;

export const sdkRoutes = [
	route({
		method: 'POST',
		path: '/sdk/session',
		summary: 'Register a device for a session',
		answer: deviceSessionAnswer,
		credential: 'clientKey',
		limit: limits.sdkDevices,
		body: sessionBody,
		cors: true,
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

	route({
		method: 'POST',
		path: '/sdk/identity',
		summary: 'Set the user of a device',
		answer: identityAnswer,
		credential: 'clientKey',
		limit: limits.sdkDevices,
		body: identityBody,
		cors: true,
		handler: async ({services: {db, clock}, organization, body: {deviceId, externalUserId, traits = null}}) => {
			const device = {organizationId: organization.id, deviceId, now: clock.now()};
			await setIdentity(db, device, {externalUserId, traits});
			return {deviceId, externalUserId};
		},
	}),

	route({
		method: 'POST',
		path: '/sdk/identity/clear',
		summary: 'Remove the user of a device',
		answer: clearedIdentityAnswer,
		credential: 'clientKey',
		limit: limits.sdkDevices,
		body: deviceBody,
		cors: true,
		handler: async ({services: {db, clock}, organization, body: {deviceId}}) => {
			await setIdentity(db, {organizationId: organization.id, deviceId, now: clock.now()}, null);
			return {deviceId, externalUserId: null};
		},
	}),

	route({
		method: 'POST',
		path: '/sdk/links',
		summary: 'Create a link of a template that is open to apps',
		description: `The same content of the same device is the same link (200). At most ${bodyLimits.sdkDeviceLinks.max} requests a minute and device.`,
		refusals: [402, 404, 428],
		answer: appLinkAnswer,
		otherAnswers: {200: appLinkAnswer},
		credential: 'clientKey',
		limit: limits.sdkLinks,
		body: appLinkBody,
		cors: true,
		status: 201,
		handler: async ({services, organization, by, body}) => {
			const {isNew, link} = await createAppLink(services, {organization, by, body});
			return reply({status: isNew ? 201 : 200, body: {id: link.id, shortCode: link.shortCode, url: link.url}});
		},
	}),

	route({
		method: 'POST',
		path: '/sdk/events',
		summary: 'Track an event of a device',
		answer: acceptedAnswer,
		credential: 'clientKey',
		limit: limits.sdkEvents,
		body: eventBody,
		cors: true,
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
