//! Points in time as tool responses format them, from seconds since 1970 and without a calendar library.

/// 2025-01-01T00:00:00Z; the times in the corpus are in the months after it.
pub(crate) const START: i64 = 1_735_689_600;

/// Formats `2025-03-04T05:06:07Z`.
pub(crate) fn utc(seconds: i64) -> String {
    format!("{}T{}Z", date(seconds), clock(seconds))
}

/// Formats `2025-03-04T05:06:07.089Z` from milliseconds.
pub(crate) fn utc_millis(millis: i64) -> String {
    let seconds = millis.div_euclid(1000);
    format!("{}T{}.{:03}Z", date(seconds), clock(seconds), millis.rem_euclid(1000))
}

/// Formats `2025-03-04T05:06:07+02:00`, two hours ahead of UTC.
pub(crate) fn offset(seconds: i64) -> String {
    let local = seconds + 7200;
    format!("{}T{}+02:00", date(local), clock(local))
}

/// Formats `2025-03-04 05:06:07`, as databases do.
pub(crate) fn sql(seconds: i64) -> String {
    format!("{} {}", date(seconds), clock(seconds))
}

/// Formats `2025-03-04`.
pub(crate) fn date(seconds: i64) -> String {
    // The algorithm counts years from March, so that the leap day is the last day of a year.
    let days = seconds.div_euclid(86_400) + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

fn clock(seconds: i64) -> String {
    let of_day = seconds.rem_euclid(86_400);
    format!("{:02}:{:02}:{:02}", of_day / 3600, of_day / 60 % 60, of_day % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments() {
        assert_eq!(utc(START), "2025-01-01T00:00:00Z");
        assert_eq!(utc(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(date(951_782_400), "2000-02-29");
        assert_eq!(utc_millis(1_709_251_200_007), "2024-03-01T00:00:00.007Z");
        assert_eq!(offset(START), "2025-01-01T02:00:00+02:00");
        assert_eq!(sql(0), "1970-01-01 00:00:00");
    }
}
