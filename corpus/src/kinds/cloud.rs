//! A cloud's inventory: capitalised keys, tags as lists of pairs, long resource names that repeat account and
//! region, reservations around instances around interfaces.

use crate::moment::{START, offset, utc};
use crate::rng::Rng;
use crate::value::Null;
use crate::words;
use crate::writer::Writer;

const ACCOUNT: &str = "123456789012";

/// Virtual machines inside reservations, with tags and network interfaces.
pub(crate) fn instances(rng: &mut Rng, w: &mut Writer) {
    w.object(|w| {
        w.array_field("Reservations", |w| {
            w.rows(|w, i| {
                w.object(|w| {
                    w.field("Groups", Vec::<&str>::new()).array_field("Instances", |w| instance(rng, w, i));
                    w.field("OwnerId", ACCOUNT).field("ReservationId", format!("r-0{}", words::hex(rng, 16)));
                });
            });
        });
    });
}

/// Security groups: rules with ranges, some open to the world.
pub(crate) fn security_groups(rng: &mut Rng, w: &mut Writer) {
    w.object(|w| {
        w.array_field("SecurityGroups", |w| {
            w.rows(|w, _| {
                let name = words::slug(rng);
                w.object(|w| {
                    w.field("Description", format!("Access to {name}")).field("GroupName", &name);
                    w.array_field("IpPermissions", |w| (0..1 + rng.skewed(4)).for_each(|_| rule(rng, w)));
                    w.field("OwnerId", ACCOUNT).field("GroupId", format!("sg-0{}", words::hex(rng, 16)));
                    w.array_field("IpPermissionsEgress", |w| {
                        w.object(|w| {
                            w.field("IpProtocol", "-1").array_field("IpRanges", |w| {
                                w.object(|w| {
                                    w.field("CidrIp", "0.0.0.0/0");
                                });
                            });
                        });
                    });
                    if rng.chance(60) {
                        tags(rng, w, &name);
                    }
                    w.field("VpcId", "vpc-0a1b2c3d4e5f60718");
                });
            });
        });
    });
}

/// Objects in a bucket: keys that share their folders, entity tags in quotes within quotes.
pub(crate) fn objects(rng: &mut Rng, w: &mut Writer) {
    w.object(|w| {
        w.array_field("Contents", |w| {
            w.rows(|w, i| {
                let when = START + i as i64 * 37;
                w.object(|w| {
                    let key = format!("exports/{}/{}-{i:06}.csv.gz", rng.prefer(words::SERVICES), words::hex(rng, 6));
                    w.field("Key", key).field("LastModified", offset(when));
                    w.field("ETag", format!("\"{}\"", words::hex(rng, 32))).field("Size", rng.skewed(90_000_000));
                    w.field("StorageClass", rng.prefer(&["STANDARD", "GLACIER"]));
                });
            });
        });
        w.field("RequestCharged", Null).field("Prefix", "exports/");
    });
}

/// Roles and their policies: a list of statements, `Action` is a string or a list.
pub(crate) fn policies(rng: &mut Rng, w: &mut Writer) {
    w.object(|w| {
        w.array_field("Roles", |w| {
            w.rows(|w, _| {
                let name = words::slug(rng);
                w.object(|w| {
                    w.field("Path", "/service/").field("RoleName", &name);
                    w.field("RoleId", format!("AROA{}", words::opaque(rng, 17).to_uppercase()));
                    w.field("Arn", format!("arn:aws:iam::{ACCOUNT}:role/service/{name}"));
                    w.field("CreateDate", utc(START - rng.below(90_000_000) as i64));
                    w.object_field("AssumeRolePolicyDocument", |w| {
                        w.field("Version", "2012-10-17");
                        w.array_field("Statement", |w| (0..1 + rng.skewed(2)).for_each(|_| statement(rng, w, &name)));
                    });
                    w.field("MaxSessionDuration", 3600);
                });
            });
        });
        w.field("IsTruncated", false);
    });
}

fn instance(rng: &mut Rng, w: &mut Writer, i: u64) {
    let region = rng.prefer(words::REGIONS);
    let (ip, running) = (words::address(rng), rng.chance(85));
    let dashed = ip.replace('.', "-");
    w.object(|w| {
        w.field("AmiLaunchIndex", 0).field("ImageId", "ami-0f00dcafe00112233");
        w.field("InstanceId", format!("i-0{}", words::hex(rng, 16)));
        w.field("InstanceType", rng.prefer(&["t3.medium", "m6i.large", "c7g.xlarge"]));
        w.field("LaunchTime", offset(START + i as i64 * 4321));
        w.object_field("Placement", |w| {
            w.field("AvailabilityZone", format!("{region}{}", rng.pick(&['a', 'b', 'c'])));
            w.field("GroupName", "").field("Tenancy", "default");
        });
        w.field("PrivateDnsName", format!("ip-{dashed}.{region}.compute.internal")).field("PrivateIpAddress", &ip);
        if running {
            w.field("PublicIpAddress", format!("203.0.113.{}", rng.below(256)));
        }
        w.object_field("State", |w| {
            w.field("Code", if running { 16 } else { 80 }).field("Name", if running { "running" } else { "stopped" });
        });
        w.array_field("SecurityGroups", |w| {
            w.object(|w| {
                w.field("GroupName", "internal").field("GroupId", "sg-0aabbccddeeff0011");
            });
        });
        if rng.chance(90) {
            tags(rng, w, &format!("web-{i}"));
        }
        if !running {
            w.object_field("StateReason", |w| {
                w.field("Code", "Client.UserInitiatedShutdown").field("Message", "User initiated shutdown");
            });
        }
    });
}

fn tags(rng: &mut Rng, w: &mut Writer, name: &str) {
    w.array_field("Tags", |w| {
        let pairs = [("Name", name), ("env", rng.prefer(&["prod", "stage"])), ("team", rng.pick(words::SERVICES))];
        for (key, value) in &pairs[..1 + rng.below(3) as usize] {
            w.object(|w| {
                w.field("Key", key).field("Value", value);
            });
        }
    });
}

fn rule(rng: &mut Rng, w: &mut Writer) {
    let port = rng.prefer(&[443, 80, 22, 5432, 6379]);
    w.object(|w| {
        w.field("FromPort", port).field("IpProtocol", "tcp").array_field("IpRanges", |w| {
            for _ in 0..1 + rng.skewed(3) {
                w.object(|w| {
                    w.field("CidrIp", format!("10.{}.0.0/16", rng.below(40)));
                    if rng.chance(40) {
                        w.field("Description", rng.pick(words::SERVICES));
                    }
                });
            }
        });
        w.field("Ipv6Ranges", Vec::<&str>::new()).field("ToPort", port);
    });
}

fn statement(rng: &mut Rng, w: &mut Writer, name: &str) {
    w.object(|w| {
        w.field("Effect", "Allow").object_field("Principal", |w| {
            w.field("Service", "compute.example.com");
        });
        if rng.chance(50) {
            w.field("Action", "sts:AssumeRole");
        } else {
            w.field("Action", ["s3:GetObject", "s3:PutObject"]);
            w.field("Resource", format!("arn:aws:s3:::acme-{name}/*"));
        }
        if rng.chance(20) {
            w.object_field("Condition", |w| {
                w.object_field("StringEquals", |w| {
                    w.field("aws:SourceAccount", ACCOUNT);
                });
            });
        }
    });
}
