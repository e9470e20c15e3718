import {randomUUID} from 'node:crypto';

/**
 * A UUID of version 7 (RFC 9562 5.7): the time in milliseconds and 74 random bits. Ids of one time are adjacent in an
 * index, which grows at its end with full pages; random ids fill pages to two thirds.
 */
export const timeOrderedId = (at: Date): string => {
	const time = at.getTime().toString(16).padStart(12, '0');
	const random = randomUUID();
	return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(15, 18)}-${random.slice(19)}`;
};
