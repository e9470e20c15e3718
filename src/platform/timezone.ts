type Zone = {name: string; offsets: Intl.DateTimeFormat};

// A formatter costs far more than a lookup. Only valid zones are cached, so the map stays as small as the tz database.
const zones = new Map<string, Zone | null>();

const zoneOf = (name: string): Zone | null => {
	const key = name.toLowerCase();
	const known = zones.get(key);
	if (known !== undefined) {
		return known;
	}

	// Bare offsets are not zone names, although newer engines accept them.
	if (!/^[a-z][\w+/-]*$/.test(key)) {
		return null;
	}

	try {
		const offsets = new Intl.DateTimeFormat('en', {timeZone: name, timeZoneName: 'longOffset'});
		const zone = {name: offsets.resolvedOptions().timeZone, offsets};
		zones.set(key, zone);
		return zone;
	} catch {
		// The only way to ask whether the engine knows a zone.
		return null;
	}
};

/**
 * The engine's canonical name of a zone, under which Apple's `Asia/Kolkata` equals a browser's `Asia/Calcutta`; null if
 * invalid. Compute it when comparing and never store it: names change between engines (contract/match 15).
 */
export const canonicalTimezone = (name: string): string | null => zoneOf(name)?.name ?? null;

/** The zone's offset from UTC at a time, as text for comparisons; null for an invalid zone. */
export const utcOffset = (name: string, at: Date): string | null =>
	zoneOf(name)
		?.offsets.formatToParts(at)
		.find(({type}) => type === 'timeZoneName')?.value ?? null;
