//! Shops and payment providers: lists wrapped in an envelope, money in cents, many nulls, objects that name their
//! own type, and a few small objects (addresses, line items) that repeat in every row.

use crate::moment::{START, date, offset, utc};
use crate::rng::Rng;
use crate::value::{Decimal, Null};
use crate::words;
use crate::writer::Writer;

/// Customers of a payment provider: one flat row, two nested objects, free-form metadata.
pub(crate) fn customers(rng: &mut Rng, w: &mut Writer) {
    envelope(w, "/v1/customers", |w| {
        w.object(|w| {
            w.field("id", format!("cus_{}", words::opaque(rng, 14))).field("object", "customer").field("balance", 0);
            w.field("created", START + rng.below(9_000_000) as i64)
                .field("currency", rng.prefer(&["eur", "usd", "jpy"]));
            w.field("default_source", Null).field("delinquent", rng.chance(4)).field("description", Null);
            w.field("email", words::email(rng)).field("livemode", false);
            w.object_field("metadata", |w| {
                if rng.chance(30) {
                    w.field("crm_id", words::uuid(rng));
                }
            });
            w.field("name", words::person(rng)).field("phone", Null);
            if rng.chance(50) {
                w.object_field("address", |w| address(rng, w));
            } else {
                w.field("address", Null);
            }
            w.field("tax_exempt", "none").field("test_clock", Null);
        });
    });
}

/// Invoices with their lines, each line with its price.
pub(crate) fn invoices(rng: &mut Rng, w: &mut Writer) {
    let mut number = 1000;
    envelope(w, "/v1/invoices", |w| {
        number += 1;
        let cents = rng.between(500, 90_000);
        let created = START + number * 3600;
        let id = format!("in_{}", words::opaque(rng, 16));
        w.object(|w| {
            w.field("id", &id).field("object", "invoice").field("amount_due", cents).field("amount_paid", cents);
            w.field("amount_remaining", 0).field("attempt_count", 1).field("collection_method", "charge_automatically");
            w.field("created", created).field("currency", "eur").field("customer_email", words::email(rng));
            w.field("hosted_invoice_url", format!("https://pay.example.com/i/{id}")).field("due_date", Null);
            w.object_field("lines", |w| {
                w.field("object", "list")
                    .array_field("data", |w| (0..1 + rng.skewed(3)).for_each(|_| line(rng, w, created)));
                w.field("has_more", false).field("url", format!("/v1/invoices/{id}/lines"));
            });
            w.field("number", format!("ACME-{number:05}")).field("paid", true).field("status", "paid");
            w.object_field("status_transitions", |w| {
                w.field("finalized_at", created + 60).field("paid_at", created + 61).field("voided_at", Null);
            });
        });
    });
}

/// Charges: the card and the outcome nested, rarely refunds.
pub(crate) fn payments(rng: &mut Rng, w: &mut Writer) {
    envelope(w, "/v1/charges", |w| {
        let failed = rng.chance(8);
        w.object(|w| {
            w.field("id", format!("ch_{}", words::opaque(rng, 20))).field("object", "charge");
            w.field("amount", rng.between(100, 50_000)).field("amount_refunded", 0).field("captured", !failed);
            w.field("created", START + rng.below(9_000_000) as i64)
                .field("currency", rng.prefer(&["eur", "usd", "gbp"]));
            w.field("failure_code", failed.then_some("card_declined"));
            w.field("failure_message", failed.then_some("Your card has insufficient funds."));
            w.object_field("outcome", |w| {
                w.field("network_status", if failed { "declined_by_network" } else { "approved_by_network" });
                w.field("risk_level", rng.prefer(&["normal", "elevated"])).field("risk_score", rng.below(80));
                w.field("type", if failed { "issuer_declined" } else { "authorized" });
            });
            w.object_field("payment_method_details", |w| {
                w.field("type", "card").object_field("card", |w| {
                    w.field("brand", rng.prefer(&["visa", "mastercard", "amex"]))
                        .field("exp_month", rng.between(1, 12));
                    w.field("exp_year", rng.between(2026, 2031)).field("last4", format!("{:04}", rng.below(10_000)));
                    w.object_field("checks", |w| {
                        w.field("address_line1_check", Null).field("cvc_check", "pass");
                    });
                });
            });
            w.field("paid", !failed)
                .field("refunded", false)
                .field("status", if failed { "failed" } else { "succeeded" });
        });
    });
}

/// A shop's orders: customer, two addresses, line items, some with discounts.
pub(crate) fn orders(rng: &mut Rng, w: &mut Writer) {
    w.object(|w| {
        w.array_field("orders", |w| {
            w.rows(|w, i| {
                w.object(|w| {
                    w.field("id", 5_500_000_000_000 + i * 32_768).field("name", format!("#{}", 1001 + i));
                    w.field("created_at", offset(START + i as i64 * 900)).field("currency", "EUR");
                    w.field("financial_status", rng.prefer(&["paid", "pending", "refunded"]));
                    w.field("fulfillment_status", rng.chance(60).then_some("fulfilled"));
                    w.object_field("customer", |w| {
                        w.field("id", rng.below(90_000)).field("email", words::email(rng)).field("tags", "");
                    });
                    w.object_field("shipping_address", |w| address(rng, w));
                    w.array_field("line_items", |w| (0..1 + rng.skewed(4)).for_each(|_| item(rng, w)));
                    if rng.chance(20) {
                        w.field("note", words::sentence(rng, 6));
                    }
                    w.field("total_price", format!("{}.{:02}", rng.between(5, 400), rng.below(100)));
                });
            });
        });
    });
}

/// One order in detail: many lines, then its history.
pub(crate) fn order(rng: &mut Rng, w: &mut Writer) {
    let half = w.target() / 2;
    w.object(|w| {
        w.field("order_id", words::uuid(rng)).field("status", "shipped").field("total", Decimal(128_495, 2));
        w.object_field("billing", |w| address(rng, w)).object_field("shipping", |w| address(rng, w));
        w.array_field("lines", |w| {
            w.rows_to(half, |w, _| item(rng, w));
        });
        w.array_field("events", |w| {
            w.rows(|w, i| {
                w.object(|w| {
                    w.field("at", utc(START + i as i64 * 61)).field("type", rng.prefer(&["scan", "note", "status"]));
                    w.field("by", words::login(rng));
                    if rng.chance(40) {
                        w.object_field("data", |w| {
                            w.field("hub", rng.pick(words::CITIES)).field("parcel", rng.between(1, 4));
                        });
                    }
                });
            });
        });
    });
}

/// Products with variants and options, text with HTML in it.
pub(crate) fn products(rng: &mut Rng, w: &mut Writer) {
    w.object(|w| {
        w.array_field("products", |w| {
            w.rows(|w, i| {
                let name = format!("{} {}", rng.pick(words::ADJECTIVES), rng.pick(words::NOUNS));
                w.object(|w| {
                    w.field("id", 780_000 + i).field("title", &name).field("handle", name.replace(' ', "-"));
                    w.field("body_html", format!("<p>{}</p>\n<ul><li>A & B</li></ul>", words::sentence(rng, 9)));
                    w.array_field("variants", |w| {
                        for size in &["S", "M", "L"][..1 + rng.below(3) as usize] {
                            w.object(|w| {
                                w.field("sku", format!("AC-{:05}-{size}", i))
                                    .field("option1", size)
                                    .field("option2", Null);
                                w.field("price", format!("{}.00", rng.between(5, 90))).field("taxable", true);
                                w.field("inventory_quantity", rng.skewed(400))
                                    .field("weight", Decimal(rng.between(1, 90), 1));
                            });
                        }
                    });
                    w.field("images", [format!("https://cdn.example.com/p/{}.jpg", words::hex(rng, 10))]);
                    w.field("published_at", date(START + i as i64 * 86_400));
                });
            });
        });
    });
}

fn envelope(w: &mut Writer, url: &str, mut row: impl FnMut(&mut Writer)) {
    w.object(|w| {
        w.field("object", "list").field("url", url).field("has_more", true);
        w.array_field("data", |w| w.rows(|w, _| row(w)));
    });
}

fn line(rng: &mut Rng, w: &mut Writer, created: i64) {
    w.object(|w| {
        w.field("id", format!("il_{}", words::opaque(rng, 16))).field("amount", rng.between(500, 9000));
        w.field("description", format!("1 × {} plan", rng.pick(words::SERVICES)));
        w.object_field("period", |w| {
            w.field("start", created).field("end", created + 2_592_000);
        });
        w.object_field("price", |w| {
            w.field("id", rng.prefer(&["price_basic", "price_team", "price_scale"])).field("object", "price");
            w.field("unit_amount", 900).field("recurring", "month");
        });
        w.field("proration", false).field("quantity", 1);
    });
}

fn item(rng: &mut Rng, w: &mut Writer) {
    w.object(|w| {
        w.field("sku", format!("AC-{:05}", rng.skewed(400))).field("title", rng.pick(words::NOUNS));
        w.field("quantity", 1 + rng.skewed(5)).field("price", Decimal(rng.between(199, 19_999), 2));
        if rng.chance(15) {
            w.object_field("discount", |w| {
                w.field("code", "SPRING").field("percent", 10);
            });
        }
        w.field("taxable", true);
    });
}

fn address(rng: &mut Rng, w: &mut Writer) {
    w.field("line1", format!("{} Harbour Road", rng.between(1, 200))).field("line2", Null);
    w.field("city", rng.pick(words::CITIES)).field("postal_code", format!("{:05}", rng.below(100_000)));
    w.field("state", Null).field("country", rng.prefer(&["DE", "PT", "JP", "US", "NO"]));
}
