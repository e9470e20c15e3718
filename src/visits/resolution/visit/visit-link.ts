import Joi from 'joi';
import {type Reply, type RequestFacts, reply} from '../../../accounts/route.ts';
import type {ResolutionPath} from '../../../links/domains/locate.ts';
import {isConnectionFault} from '../../../platform/db/db.ts';
import {HttpError} from '../../../platform/errors.ts';
import {headersOf} from '../../../platform/http/exchange.ts';
import type {Query} from '../../../platform/http/query.ts';
import {checkUrlPart} from '../../../platform/http/validate.ts';
import type {Services} from '../../../services.ts';
import {deviceIdField} from '../../devices/device-fields.ts';
import {registerVisitDevice} from '../../devices/visit-device.ts';
import {answerUnknownCode} from './answer-unknown-code.ts';
import {answerVisit, type PageDeps, type VisitAnswer} from './answer-visit.ts';
import {attributionOfVisit} from './record-visit.ts';
import {type ResolveDeps, resolveLink} from './resolve-link.ts';
import type {ResolvedRow} from './resolved-row.ts';

export type VisitDeps = ResolveDeps & PageDeps & Pick<Services, 'limiter' | 'unknownCodes'>;

const deviceQuery = Joi.object<{deviceId?: string}>({deviceId: deviceIdField});

/** Only `deviceId` of the query is ours. An invalid one is ignored: no query makes a visit a 400 (contract/resolution 2). */
const deviceIdOf = ({deviceId}: Query): string | undefined => {
	const {value, faults} = checkUrlPart(deviceQuery, deviceId === undefined ? {} : {deviceId});
	return faults.length === 0 ? value.deviceId : undefined;
};

/** Registers the device that the query names. */
const registerDevice = async (
	services: Pick<Services, 'clientIp' | 'clock' | 'countries' | 'db' | 'limiter'>,
	request: RequestFacts,
	row: ResolvedRow,
	query: Query,
): Promise<void> => {
	const deviceId = deviceIdOf(query);
	if (request.isHead || deviceId === undefined) {
		return;
	}

	const opened = {linkId: row.id, attribution: attributionOfVisit(services, request, row, query)};
	const visited = {organizationId: row.organization_id, deviceId, opened, ip: request.ip};
	await registerVisitDevice(services, visited).catch((error: unknown) => {
		// Known links keep resolving without the database (contract/requests 11); a session registers the device later.
		if (!isConnectionFault(error)) {
			throw error;
		}
	});
};

const visit = async (
	services: VisitDeps,
	request: RequestFacts,
	{row, data: isData}: {row: ResolvedRow; data: boolean},
	query: Query,
): Promise<VisitAnswer> => {
	if (isData) {
		await registerDevice(services, request, row, query);
	}

	return answerVisit(services, request, {row, isData, query});
};

const refusals: Record<number, 'malformed' | 'not_found' | 'gone'> = {400: 'malformed', 404: 'not_found', 410: 'gone'};

/** Answers a resolution path: the page for people, the static one for crawlers, or the link's data. @throws 400, 404, 410. */
export const visitLink = async (
	services: VisitDeps,
	request: RequestFacts,
	path: ResolutionPath,
	query: Query,
): Promise<Reply> => {
	const {metrics} = services;
	try {
		const {outcome, headers, body} = await resolveLink(services, request, path).then(
			(found) => visit(services, request, found, query),
			(error: unknown) => answerUnknownCode(services, request, path, error),
		);
		metrics.resolution(outcome);
		return reply({headers: headersOf(headers), body: Buffer.from(body, 'latin1')});
	} catch (error) {
		metrics.resolution((error instanceof HttpError && refusals[error.status]) || 'failed');
		throw error;
	}
};
