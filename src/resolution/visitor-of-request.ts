import type {RequestFacts} from '../http/route.ts';
import {readVisitor, type Visitor} from './visitor.ts';

/** Who asks, as far as the headers tell. */
export const visitorOf = ({headers}: Pick<RequestFacts, 'headers'>): Visitor => {
	const one = (name: string): string | undefined => {
		const value = headers[name];
		return Array.isArray(value) ? value[0] : value;
	};
	return readVisitor({
		userAgent: one('user-agent'),
		acceptLanguage: one('accept-language'),
		timezone: one('sec-ch-timezone'),
		uaModel: one('sec-ch-ua-model'),
		uaPlatformVersion: one('sec-ch-ua-platform-version'),
	});
};
